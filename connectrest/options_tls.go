package connectrest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// WithTLSConfig connects by c: RootCAs for a worker behind a private CA,
// Certificates for client certificates. It cannot be combined with
// [WithHTTPClient] or [WithTransport], which have a TLS configuration of their
// own. By default, the system's CAs and no client certificate.
func WithTLSConfig(c *tls.Config) Option {
	return func(s *settings) error {
		if c == nil {
			return errors.New("the TLS configuration is nil")
		}
		s.tls = c.Clone()
		return nil
	}
}

// WithCAFile trusts the certificate authorities in the PEM files at paths, and
// no others: those that signed the workers' certificates. The files are read
// once, by [New]. By default, the system's CAs.
func WithCAFile(paths ...string) Option {
	return func(s *settings) error {
		if len(paths) == 0 {
			return errors.New("no CA file is named")
		}
		s.caFiles = append(s.caFiles, paths...)
		return nil
	}
}

// WithClientCertificate shows the client certificate of the PEM files certFile
// and keyFile. They are read by [New], and again for each connection, so that a
// renewed certificate is used without a restart. By default, none.
func WithClientCertificate(certFile, keyFile string) Option {
	return func(s *settings) error {
		if certFile == "" || keyFile == "" {
			return errors.New("the client certificate needs a certificate file and a key file")
		}
		s.certFile, s.keyFile = certFile, keyFile
		return nil
	}
}

// readTLS joins what the options of TLS say. Which came first does not matter.
func (s *settings) readTLS() error {
	if len(s.caFiles) == 0 && s.certFile == "" {
		return nil
	}
	if s.tls == nil {
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if len(s.caFiles) > 0 {
		if s.tls.RootCAs != nil {
			return errors.New("CAs are given twice: by WithCAFile and by WithTLSConfig, as RootCAs")
		}
		s.tls.RootCAs = x509.NewCertPool()
		for _, path := range s.caFiles {
			pem, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("CA file: %w", err)
			}
			if !s.tls.RootCAs.AppendCertsFromPEM(pem) {
				return fmt.Errorf("CA file %s: it holds no certificate in PEM form", path)
			}
		}
	}
	if s.certFile == "" {
		return nil
	}
	if len(s.tls.Certificates) > 0 || s.tls.GetClientCertificate != nil {
		return errors.New("the client certificate is given twice: by WithClientCertificate and by WithTLSConfig")
	}
	certFile, keyFile := s.certFile, s.keyFile
	load := func() (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s with key %s: %w", certFile, keyFile, err)
		}
		return &c, nil
	}
	if _, err := load(); err != nil {
		return err
	}
	s.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	return nil
}
