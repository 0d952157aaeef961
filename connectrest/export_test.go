package connectrest

// WithMaxAnswer bounds an answer so that tests need not fill the real bound.
func WithMaxAnswer(bytes int64) Option {
	return func(s *settings) error {
		s.maxList = bytes
		return nil
	}
}
