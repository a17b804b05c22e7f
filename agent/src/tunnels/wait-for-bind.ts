// The gateway's first answer to a tunnel, as POST /tunnels waits for it.

import { DetailError } from '../detail-error.ts';
import type { ClientStatus, GatewayError, TunnelHandle } from '../gateway-client.ts';

/** The address belongs to somebody, or something, else: in use, reserved by another account, or an edge's. */
const CONFLICTS = [334, 320, 381];
/** The credential's ACL, or the account's reservations, do not allow it. */
const DENIALS = [308, 316, 319, 356, 399];
/** The session ended meanwhile. */
const SESSION_ENDED = 300;

/**
 * @param refused resolves as soon as it is known that there will be no session soon.
 * @throws {DetailError} the refusal: 409, 403 or 400; 503 when there is no session, or no answer within `timeout` milliseconds.
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
    answered.catch(() => {}); // It may still come.
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
