// Waits for the gateway's first response to a tunnel of POST /tunnels.

import { DetailError } from '../detail-error.ts';
import type { ClientStatus, GatewayError, TunnelHandle } from '../gateway-client.ts';

/** The error numbers of conflicts: the address is in use, reserved by another account, or of an edge. */
const CONFLICTS = [334, 320, 381];
/** The error numbers of denials: the credential's ACL or the account's reservations do not allow the address. */
const DENIALS = [308, 316, 319, 356, 399];
/** The error number of a session that ended meanwhile. */
const SESSION_ENDED = 300;

/**
 * Waits for the response.
 * @param refused resolves when the gateway refuses the session, so that there is none soon.
 * @throws {DetailError} 409, 403 or 400 for a refusal; 503 without a session, or without a response within `timeout`
 * milliseconds.
 */
export async function waitForBind(
  handle: TunnelHandle,
  { timeout, refused, status }: { timeout: number; refused: Promise<void>; status: () => ClientStatus },
): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timeout, null);
  });
  const answered = handle.answered.catch((error: Error & Partial<GatewayError>) => {
    const { code, message } = error;
    throw code === undefined
      ? new DetailError(503, `There is no answer: ${message}.`)
      : refusalError({ code, message });
  });
  try {
    const url = await Promise.race([answered, overdue, refused.then(() => null)]);
    if (url !== null) return url;
    throw new DetailError(503, unreachableMessage(status()));
  } finally {
    clearTimeout(timer);
    answered.catch(() => {}); // A later rejection must not end the process.
  }
}

function refusalError({ code, message }: GatewayError): DetailError {
  const number = Number(/\d+$/.exec(code)?.[0]);
  const text = code ? `${message} (${code})` : message;
  if (CONFLICTS.includes(number)) return new DetailError(409, text);
  if (DENIALS.includes(number)) return new DetailError(403, text);
  return new DetailError(number === SESSION_ENDED ? 503 : 400, text);
}

function unreachableMessage({ state, error }: ClientStatus): string {
  const why = error ? ` (${error.message}${error.code && ` ${error.code}`})` : '';
  if (state === 'refused') return `The gateway does not accept this agent${why}; the tunnel was not started.`;
  if (state === 'online') return 'The gateway did not answer in time; the tunnel was not started. Try again later.';
  return `The gateway cannot be reached${why}; the tunnel was not started. Try again later.`;
}
