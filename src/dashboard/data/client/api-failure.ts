// Why an operation failed, in the words of the server or in ours where no answer came.

interface FailureDetails {
  code?: string;
  field?: string;
  operationId?: string;
  status?: number;
  /** Seconds to wait before it is tried again. */
  retryAfter?: number;
}

/** An operation that failed. Its message is for the person in front of the screen. */
export class ApiFailure extends Error {
  /** `UNAUTHENTICATED`, `NOT_FOUND`, … of the API, or `UNREACHABLE`. */
  readonly code: string;
  /** The member of the input that is to blame. */
  readonly field: string | undefined;
  /** What to look for in the gateway's log. */
  readonly operationId: string | undefined;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, { code = 'INTERNAL', field, operationId, status, retryAfter }: FailureDetails = {}) {
    super(message);
    this.code = code;
    this.field = field;
    this.operationId = operationId;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Whatever was thrown as a failure that can be shown. */
export function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ApiFailure(`The dashboard itself failed: ${text}`, { code: 'DASHBOARD' });
}

interface GraphQLErrorBody {
  message: string;
  extensions?: { code?: string; field?: string; operationId?: string; status?: number };
}

/** The failure that an answer of the API tells, or null when it tells none. */
export function failureInResponse(
  body: { errors?: readonly GraphQLErrorBody[] },
  response: { status: number; retryAfter: number | undefined },
): ApiFailure | null {
  const [error] = body.errors ?? [];
  if (!error) return null;
  const { code, field, operationId, status } = error.extensions ?? {};
  return new ApiFailure(error.message, {
    code,
    field,
    operationId,
    status: status ?? response.status,
    retryAfter: response.retryAfter,
  });
}
