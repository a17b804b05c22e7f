// The errors of an ACME server (RFC 8555, section 6.7; RFC 9457), and what is no proper answer of one.

/** A problem document, which also orders and challenges have as their `error`. */
export interface AcmeProblemDocument {
  /** Without `urn:ietf:params:acme:error:`, such as `rateLimited`; another URI is left as it is. */
  type: string;
  /** The server's own words. */
  detail: string;
  /** The HTTP status, which the document may leave out. */
  status?: number;
  /** One for each name that something is wrong with (RFC 8555, section 6.7.1). */
  subproblems: { type: string; detail: string; identifier?: string }[];
  /** A URL for a person, as `userActionRequired` has (RFC 8555, section 7.3.3). */
  instance?: string;
}

/** The server refused, and said why. Its message is the server's own `detail`. */
export class AcmeProblem extends Error implements AcmeProblemDocument {
  override readonly name = 'AcmeProblem';
  readonly type: string;
  readonly detail: string;
  readonly status: number;
  readonly subproblems: AcmeProblemDocument['subproblems'];
  readonly instance?: string;
  /** For how long the server does not want to be asked again, in milliseconds. */
  readonly retryAfterMs?: number;

  constructor(document: AcmeProblemDocument, status: number, retryAfterMs?: number) {
    super(`${document.detail || 'The certificate authority gives no reason.'} (${document.type})`);
    this.type = document.type;
    this.detail = document.detail;
    this.status = status;
    this.subproblems = document.subproblems;
    this.instance = document.instance;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The server gave no proper answer: it could not be reached, answered too late, too much, or no ACME. Nobody knows whether
 * it did what it was asked. The `cause`, where there is one, may name addresses of the operator's network; the message does not.
 */
export class AcmeUnreachable extends Error {
  override readonly name = 'AcmeUnreachable';
  /** For how long the server does not want to be asked again, in milliseconds. */
  readonly retryAfterMs?: number;

  constructor(message: string, { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

const PREFIX = /^urn:(ietf:params:)?acme:error:/;
/** Texts are stored and shown; a server cannot make them longer than this. */
const TEXT_MAX = 2000;
const SUBPROBLEMS_MAX = 100;

/** @returns the problem that a JSON value is; undefined when it is none. */
export function parseProblem(value: unknown): AcmeProblemDocument | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, detail, status, subproblems, instance } = value as Record<string, unknown>;
  if (typeof type !== 'string' && typeof detail !== 'string') return undefined;
  return {
    type: typeof type === 'string' ? text(type).replace(PREFIX, '') : 'about:blank',
    detail: text(detail),
    ...(typeof status === 'number' && { status }),
    subproblems: Array.isArray(subproblems) ? subproblems.slice(0, SUBPROBLEMS_MAX).flatMap(parseSubproblem) : [],
    ...(typeof instance === 'string' && { instance: text(instance) }),
  };
}

function parseSubproblem(value: unknown): AcmeProblemDocument['subproblems'] {
  const problem = parseProblem(value);
  if (!problem) return [];
  const { identifier } = value as { identifier?: { value?: unknown } };
  return [
    {
      type: problem.type,
      detail: problem.detail,
      ...(typeof identifier?.value === 'string' && { identifier: text(identifier.value) }),
    },
  ];
}

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, TEXT_MAX) : '');
