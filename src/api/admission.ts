// What stands before every operation: who is calling, in which version of the API, and how often.

import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Authenticator, type Hearing } from './auth.ts';
import { type App, Context } from './context.ts';
import { ApiError } from './errors.ts';
import { countRequest, type Exchange } from './http.ts';
import type { Admit } from './rest.ts';

const MINUTE_SECONDS = 60;

export interface Admission {
  /** REST takes nobody without a key, and nothing without the version header. */
  toRest: Admit;
  /** GraphQL takes strangers too: what they may see is decided field by field. */
  toGraphql: Admit;
  /** Forgets which API keys were accepted: something may have been missed. */
  forget(): void;
}

export function admission(app: App, hearing: Hearing): Admission {
  const { rateLimit, versionHeaders } = app.config;
  const authenticator = new Authenticator(app, hearing);
  const limiter = new RateLimiterMemory({ points: rateLimit, duration: MINUTE_SECONDS });

  const admit = async (exchange: Exchange, isRest: boolean): Promise<Context> => {
    const { request, response, operationId, baseUrl, seen } = exchange;
    const caller = await authenticator.caller(request);
    if (caller instanceof ApiError) {
      if (isRest) throw caller;
      return new Context(app, operationId, baseUrl, caller);
    }
    seen.keyId = caller.keyId;
    seen.accountId = caller.accountId;
    if (isRest) checkVersion(exchange, versionHeaders);
    await countRequest(limiter, caller.keyId, response);
    return new Context(app, operationId, baseUrl, caller);
  };

  return {
    toRest: (exchange) => admit(exchange, true),
    toGraphql: (exchange) => admit(exchange, false),
    forget: () => authenticator.forget(),
  };
}

/** The first of the headers that is there counts. */
function checkVersion({ request: { headers } }: Exchange, names: string[]): void {
  const name = names.find((candidate) => headers[candidate] !== undefined);
  if (name === undefined) throw new ApiError('missingVersion');
  if (headers[name] !== '2') throw new ApiError('unsupportedVersion');
}
