// A webhook as it arrived: what its signature may be about.

import type { HttpRequest } from '../../http/exchange.ts';

export interface WebhookMessage {
  readonly method: string;
  /** As the sender knows it: `https://example.com/hook?a=b`. */
  readonly url: string;
  /** In origin-form: `/hook?a=b`. */
  readonly target: string;
  readonly body: Buffer;
  /** The body, where it is JSON; undefined where it is not. */
  readonly json: unknown;
  /** The first value of a header field. */
  header(name: string): string | undefined;
  /** All values of a header field. */
  headers(name: string): readonly string[];
}

export function webhookMessage(request: HttpRequest, body: Buffer): WebhookMessage {
  let json: { value: unknown } | undefined;
  return {
    method: request.method,
    url: `${request.scheme}://${request.host}${request.target}`,
    target: request.target,
    body,
    get json() {
      json ??= { value: parsed(body) };
      return json.value;
    },
    header: (name) => request.fields.get(name),
    headers: (name) => request.fields.all(name),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** The value at a path of a body in JSON; undefined where there is none. */
export function jsonAt({ json }: WebhookMessage, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    json,
  );
}

/** A parameter of the URL's query. */
export function queryOf({ target }: WebhookMessage, name: string): string | undefined {
  const question = target.indexOf('?');
  return question < 0 ? undefined : (new URLSearchParams(target.slice(question + 1)).get(name) ?? undefined);
}

export function isForm(message: WebhookMessage): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(message.header('content-type') ?? '');
}

/** The parameters of a form, in the order of their names: each name, and its different values in order behind it. */
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
