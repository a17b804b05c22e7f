// The error of a failed operation, with the server's message or, if no response came, one of the dashboard.

/** What is wrong with one member of an input. */
export interface MemberProblem {
  /** Its path: `acl`, `target.webhook.url`, `acl[2]`; of members of `input` without that. */
  member: string;
  message: string;
}

interface FailureDetails {
  code?: string;
  field?: string;
  problems?: readonly MemberProblem[];
  operationId?: string;
  status?: number;
  /** Seconds to wait before the next attempt. */
  retryAfter?: number;
}

/** The error of a failed operation. Its message is shown to the user. */
export class ApiFailure extends Error {
  /** The error code of the API (`UNAUTHENTICATED`, `NOT_FOUND`, …), `UNREACHABLE` or `DASHBOARD`. */
  readonly code: string;
  /** The path of the input member that caused the error. */
  readonly field: string | undefined;
  /** All that is wrong with the input; the message is that of the first. */
  readonly problems: readonly MemberProblem[];
  /** The id of the request in the gateway's log. */
  readonly operationId: string | undefined;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    { code = 'INTERNAL', field, problems = [], operationId, status, retryAfter }: FailureDetails = {},
  ) {
    super(message);
    this.code = code;
    this.field = field;
    this.problems = problems;
    this.operationId = operationId;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Converts anything that was thrown into a failure that can be shown. */
export function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ApiFailure(`The dashboard itself failed: ${text}`, { code: 'DASHBOARD' });
}

interface GraphQLErrorBody {
  message: string;
  extensions?: {
    code?: string;
    field?: string;
    problems?: readonly { path: readonly (string | number)[]; message: string }[];
    operationId?: string;
    status?: number;
  };
}

/** The first error in the body of a response; null if it has none. */
export function failureInResponse(
  body: { errors?: readonly GraphQLErrorBody[] },
  response: { status: number; retryAfter: number | undefined },
): ApiFailure | null {
  const [error] = body.errors ?? [];
  if (!error) return null;
  const { code, field, problems, operationId, status } = error.extensions ?? {};
  return new ApiFailure(error.message, {
    code,
    field,
    problems: problems?.map(({ path, message }) => ({ member: memberAt(path), message })),
    operationId,
    status: status ?? response.status,
    retryAfter: response.retryAfter,
  });
}

function memberAt([argument, ...rest]: readonly (string | number)[]): string {
  const path = argument === 'input' ? rest : [argument ?? '', ...rest];
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}
