// Errors with a response of the local API.

/** An error that the local API answers with `status` and the body `{"detail": message}`. */
export class DetailError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
