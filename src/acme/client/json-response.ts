// What the JSON of a response says.

import type { AcmeHttpResponse } from './http-exchange.ts';
import { AcmeProblem, AcmeUnreachable, parseProblem } from './problem.ts';
import { retryAfterMs } from './retry-after.ts';

/** The error that an answer with a status from 400 on is. */
export function errorOf(response: AcmeHttpResponse): AcmeProblem | AcmeUnreachable {
  const { status, headers, body } = response;
  const wait = retryAfterMs(headers);
  const problem = parseProblem(parseJson(body));
  if (problem) return new AcmeProblem(problem, status, wait);
  return new AcmeUnreachable(
    `The ACME server at ${hostOf(response)} answered with the status ${status} and no reason.`,
    {
      retryAfterMs: wait,
    },
  );
}

/** The JSON object of a response. @throws {AcmeUnreachable} when it is none. */
export function objectOf(response: AcmeHttpResponse): Record<string, unknown> {
  const value = parseJson(response.body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  const type = response.headers['content-type'] ?? 'no media type';
  throw new AcmeUnreachable(
    `The ACME server at ${hostOf(response)} did not answer with a JSON object, but with ${type}.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const hostOf = ({ url }: AcmeHttpResponse) => new URL(url).host;

/** Reads the members of an object. @throws {AcmeUnreachable} when one has not the type that it must have. */
export class Reader {
  readonly #response: AcmeHttpResponse;
  readonly #what: string;
  readonly members: Record<string, unknown>;

  constructor(response: AcmeHttpResponse, members: Record<string, unknown>, what: string) {
    this.#response = response;
    this.#what = what;
    this.members = members;
  }

  string(name: string): string {
    return this.optional(name) ?? this.#fail(name, 'a string');
  }

  optional(name: string): string | undefined {
    const value = this.members[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  list(name: string): unknown[] {
    const value = this.members[name];
    return Array.isArray(value) ? value : this.#fail(name, 'a list');
  }

  /** In milliseconds since 1970. */
  time(name: string): number | undefined {
    const text = this.optional(name);
    const at = text === undefined ? undefined : Date.parse(text);
    return Number.isNaN(at) ? this.#fail(name, 'a time') : at;
  }

  #fail(name: string, type: string): never {
    const { host } = new URL(this.#response.url);
    throw new AcmeUnreachable(
      `The ACME server at ${host} answered with no proper ${this.#what}: "${name}" is not ${type}.`,
    );
  }
}

export const objectIn = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
