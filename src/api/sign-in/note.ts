// What the log is told of signing in.

/** Somebody signed in, or could not; for the log. */
export interface SignInNote {
  outcome: 'ok' | 'failed';
  by: 'password' | 'link';
  /** Undefined when nobody has that e-mail address, or that link. */
  userId: string | undefined;
}
