package connectrest

// ErrorBody is the body with which a worker refuses a request
// (Kafka's ErrorMessage).
type ErrorBody struct {
	Code    int    `json:"error_code"`
	Message string `json:"message"`
}
