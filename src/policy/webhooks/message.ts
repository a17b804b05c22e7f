// A received webhook: the parts of the request that a signature can cover.

import type { HttpRequest } from '../../http/exchange.ts';

/** A received webhook. */
export interface WebhookMessage {
  readonly method: string;
  /** The absolute URL: `https://example.com/hook?a=b`. */
  readonly url: string;
  /** The request target in origin-form: `/hook?a=b`. */
  readonly target: string;
  readonly body: Buffer;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
  /** The first value of a header field. */
  header(name: string): string | undefined;
  /** All values of a header field. */
  headers(name: string): readonly string[];
}

/** Makes the message of a request and its body. */
export function webhookMessage(request: HttpRequest, body: Buffer): WebhookMessage {
  let json: { value: unknown } | undefined;
  return {
    method: request.method,
    url: `${request.scheme}://${request.host}${request.target}`,
    target: request.target,
    body,
    get json() {
      json ??= { value: parseJson(body) };
      return json.value;
    },
    header: (name) => request.fields.get(name),
    headers: (name) => request.fields.all(name),
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** The value at a path in the JSON body; undefined when there is none. */
export function jsonAt({ json }: WebhookMessage, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    json,
  );
}

/** A query parameter of the URL. */
export function queryOf({ target }: WebhookMessage, name: string): string | undefined {
  const question = target.indexOf('?');
  return question < 0 ? undefined : (new URLSearchParams(target.slice(question + 1)).get(name) ?? undefined);
}

/** Whether the body is a URL-encoded form. */
export function isForm(message: WebhookMessage): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(message.header('content-type') ?? '');
}

/** The parameters of a form in the order of their names: each name, followed by its distinct values in order. */
export function sortedForm({ body }: WebhookMessage): string {
  const form = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(body.toString())) {
    const values = form.get(name);
    if (values) values.add(value);
    else form.set(name, new Set([value]));
  }
  return [...form.keys()]
    .sort()
    .flatMap((name) => [...(form.get(name) ?? [])].sort().map((value) => name + value))
    .join('');
}
