/**
 * What a log line may say of an error: name, text, place, code, and the same of its cause. The rest stays out: a
 * database's refusal carries the row it refused.
 */
export function describeFailure(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack, cause } = error;
  const code = 'code' in error ? { code: String(error.code) } : {};
  return { type, message, stack, ...code, ...(cause === undefined ? {} : { cause: describeFailure(cause) }) };
}
