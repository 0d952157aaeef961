package connecttest

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// checkFault says what is wrong with a fault that could never take effect, or not as
// it says.
func checkFault(f Fault) error {
	switch {
	case f == nil:
		return errors.New("the fault is nil")
	case reflect.TypeOf(f).Kind() == reflect.Pointer:
		return fmt.Errorf("%T: give the fault itself, not a pointer to it", f)
	}
	if r, ok := f.(requestFault); ok {
		if err := r.requests().check(); err != nil {
			return fmt.Errorf("%T: %w", f, err)
		}
	}
	if err := checkValues(f); err != nil {
		return fmt.Errorf("%T: %w", f, err)
	}
	return nil
}

func checkValues(f Fault) error {
	switch f := f.(type) {
	case Answer:
		if strings.ContainsAny(f.ContentType, "\r\n") {
			return fmt.Errorf("content type %q: it breaks the line", f.ContentType)
		}
		if f.Body != "" && (f.Status == http.StatusNoContent || f.Status == http.StatusNotModified) {
			return fmt.Errorf("status %d: an answer of it has no body", f.Status)
		}
		return checkStatus(f.Status)
	case ProxyPage:
		return checkStatus(f.Status)
	case Delay:
		return notNegative("For", f.For)
	case RequestTimeout:
		return notNegative("WorkAfter", f.WorkAfter)
	case PartialWrite:
		return notNegative("Entries", f.Entries)
	case ShortOffsets:
		return notNegative("Keep", f.Keep)
	case SlowStop:
		return notNegative("For", f.For)
	case StragglingCommit:
		return notNegative("After", f.After)
	default:
		return nil
	}
}

// checkStatus takes 0 for the default.
func checkStatus(status int) error {
	if status != 0 && (status < 200 || status > 599) {
		return fmt.Errorf("status %d: want one from 200 to 599", status)
	}
	return nil
}

func notNegative[N int | time.Duration](field string, n N) error {
	if n < 0 {
		return fmt.Errorf("%s %v: it is negative", field, n)
	}
	return nil
}

// check refuses a selection that no request can match.
func (q Requests) check() error {
	if q.Method != strings.ToUpper(q.Method) {
		return fmt.Errorf("method %q: methods are of capital letters", q.Method)
	}
	if err := notNegative("Skip", q.Skip); err != nil {
		return err
	}
	return notNegative("Times", q.Times)
}
