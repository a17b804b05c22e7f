// Sends the requests of Azure's clients over the shared agents, and records their responses, because the clients' errors say little: a
// wrong secret, for example, arrives without a status.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientSecretCredentialOptions } from '@azure/identity';
import type { Outbound } from '../http/outbound.ts';
import { RESPONSE_BYTES_MAX } from '../http/post.ts';

type Policy = NonNullable<ClientSecretCredentialOptions['additionalPolicies']>[number];

/** The response to the last request. */
export type RequestOutcome =
  | { kind: 'answered'; url: string; status: number; headers: Record<string, string>; text: string }
  | { kind: 'failed'; error: unknown };

/** One call of `put`, which may request a token before it uploads. */
export class RequestAttempt {
  readonly signal: AbortSignal;
  last: RequestOutcome | undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }
}

const attempts = new AsyncLocalStorage<RequestAttempt>();

/** Assigns all requests of `work` to an attempt, because the client for tokens accepts no signal. */
export function runAttempt<T>(attempt: RequestAttempt, work: () => Promise<T>): Promise<T> {
  return attempts.run(attempt, work);
}

/** The last policy before a request is sent, so that it overrides proxies of the environment. */
export function requestsOver({ https, http }: Outbound): Policy {
  return {
    position: 'perRetry',
    policy: {
      name: 'outbound',
      async sendRequest(request, next) {
        const attempt = attempts.getStore();
        const tooLong = new AbortController();
        const ends = [tooLong.signal, attempt?.signal, request.abortSignal].flatMap((one) => one ?? []);
        request.agent = request.url.startsWith('https:') ? https : http;
        request.abortSignal = AbortSignal.any(ends as AbortSignal[]);
        request.onDownloadProgress = ({ loadedBytes }) => {
          if (loadedBytes <= RESPONSE_BYTES_MAX) return;
          tooLong.abort();
          throw new Error(`the answer has more than ${RESPONSE_BYTES_MAX} bytes`);
        };
        const record = (outcome: RequestOutcome) => {
          if (attempt) attempt.last = outcome;
        };
        try {
          const answer = await next(request);
          const { status, bodyAsText } = answer;
          record({
            kind: 'answered',
            url: request.url,
            status,
            headers: answer.headers.toJSON(),
            text: bodyAsText ?? '',
          });
          return answer;
        } catch (error) {
          record({ kind: 'failed', error });
          throw error;
        }
      },
    },
  };
}
