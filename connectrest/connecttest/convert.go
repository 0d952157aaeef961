package connecttest

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// converters are what stands between MirrorSourceTask, which hands over bytes,
// and the producer.
type converters struct{ key, value, header converter }

// converter is a key, value or header converter class.
type converter struct {
	class   string
	schemas bool // JsonConverter: schemas.enable
}

// readConverters reads the connector's converters. A connector without them has
// the worker's: ByteArrayConverter for keys and values, as every worker that
// runs MirrorMaker 2 is set up, and Connect's default for headers.
func readConverters(c config) (converters, error) {
	read := func(key, fallback string) (converter, error) {
		class := fallback
		if s, ok := c.get(key); ok {
			class = strings.TrimSpace(s)
		}
		conv := converter{class: class, schemas: true}
		if s, ok := c.get(key + ".schemas.enable"); ok {
			s = strings.TrimSpace(s)
			conv.schemas = strings.EqualFold(s, "true")
			if class == jsonConverter && !conv.schemas && !strings.EqualFold(s, "false") {
				return conv, configException("Invalid value %s for configuration schemas.enable: Expected value to be either true or false", s)
			}
		}
		switch class {
		case byteArrayConverter, jsonConverter:
			return conv, nil
		case simpleHeaderConverter:
			if key == "header.converter" {
				return conv, nil
			}
		}
		return conv, configException("Invalid value %s for configuration %s: connecttest has no such converter", class, key)
	}
	var cs converters
	var err error
	if cs.key, err = read("key.converter", byteArrayConverter); err != nil {
		return cs, err
	}
	if cs.value, err = read("value.converter", byteArrayConverter); err != nil {
		return cs, err
	}
	cs.header, err = read("header.converter", simpleHeaderConverter)
	return cs, err
}

// data converts a key or a value, whose schema is OPTIONAL_BYTES or BYTES.
func (c converter) data(b []byte, optional bool) ([]byte, error) {
	if c.class != jsonConverter {
		return b, nil
	}
	if b == nil && !optional {
		return nil, &javaError{
			"org.apache.kafka.connect.errors.DataException",
			"Conversion error: null value for field that is required and has no default value",
			"org.apache.kafka.connect.json.JsonConverter.convertToJson",
		}
	}
	return c.json(b, optional), nil
}

// header converts the value of a header, whose schema is BYTES, or none for
// null.
func (c converter) header(b []byte) []byte {
	if b == nil {
		return nil
	}
	switch c.class {
	case simpleHeaderConverter:
		return []byte(base64.StdEncoding.EncodeToString(b))
	case jsonConverter:
		return c.json(b, false)
	default:
		return b
	}
}

func (c converter) json(b []byte, optional bool) []byte {
	payload := "null"
	if b != nil {
		payload = strconv.Quote(base64.StdEncoding.EncodeToString(b))
	}
	if !c.schemas {
		return []byte(payload)
	}
	return fmt.Appendf(nil, `{"schema":{"type":"bytes","optional":%t},"payload":%s}`, optional, payload)
}

// producerOptions are the settings of Worker.baseProducerConfigs, with the
// overrides that this package reads: max.request.size and compression.type
// (bootstrap.servers is the caller's).
func producerOptions(overrides map[string]string) ([]kgo.Opt, error) {
	maxRequest := int64(1 << 20)
	codec := kgo.NoCompression()
	if s, ok := overrides["max.request.size"]; ok {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err != nil || n < 1024 {
			return nil, configException("Invalid value %s for configuration max.request.size: connecttest takes 1024 and more", s)
		}
		maxRequest = n
	}
	if s, ok := overrides["compression.type"]; ok {
		codecs := map[string]kgo.CompressionCodec{
			"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}
		if codec, ok = codecs[s]; !ok {
			return nil, configException("Invalid value %s for configuration compression.type", s)
		}
	}
	return []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DisableIdempotentWrite(),
		kgo.MaxProduceRequestsInflightPerBroker(1),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(maxRequest)),
		kgo.BrokerMaxWriteBytes(int32(max(maxRequest*2, 100<<20))),
		kgo.ProducerBatchCompression(codec),
		kgo.UnknownTopicRetries(-1),
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerLinger(0),
	}, nil
}
