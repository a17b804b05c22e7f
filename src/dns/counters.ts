// The counters of the responder. They are plain numbers, which the metrics read.

import { ResponseCode, type ResponseCodeName } from './codec/response.ts';

export const transports = ['udp', 'tcp'] as const;
export type Transport = (typeof transports)[number];

export interface DnsCounters {
  /** Answers by transport and code. Those that were slipped are not among them. */
  answers: Record<Transport, Record<ResponseCodeName, number>>;
  /** Answers that did not fit, so that the client has to come over TCP. */
  truncated: number;
  /** Questions of networks over their rate limit: told to come over TCP, and not answered at all. */
  slipped: number;
  dropped: number;
  /** What is no question, or cannot be answered: answers, pieces of messages, a sender without a port. */
  ignored: number;
  /** Answers over UDP that the system did not take. */
  unsent: number;
  /** Questions that the gateway could not answer (SERVFAIL). */
  failures: number;
  /** Connections over TCP that were closed for a newer one, and that were not accepted. */
  evicted: number;
  refused: number;
}

export function newDnsCounters(): DnsCounters {
  const codes = Object.keys(ResponseCode) as ResponseCodeName[];
  const byCode = () => Object.fromEntries(codes.map((code) => [code, 0])) as Record<ResponseCodeName, number>;
  return {
    answers: { udp: byCode(), tcp: byCode() },
    truncated: 0,
    slipped: 0,
    dropped: 0,
    ignored: 0,
    unsent: 0,
    failures: 0,
    evicted: 0,
    refused: 0,
  };
}
