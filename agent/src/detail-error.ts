// An error that the local API answers.

/** The message becomes `{"detail": message}`. */
export class DetailError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
