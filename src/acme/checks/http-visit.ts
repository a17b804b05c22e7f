// A visit to the gateway itself, the way an authority makes one for HTTP-01 (RFC 8555, section 8.3).

import { get } from 'node:http';
import { isIPv6 } from 'node:net';
import { JobFailure } from '../jobs/failures.ts';

const TIMEOUT_MS = 5000;
/** More than any key authorization has. */
const BODY_MAX = 1024;

export interface HttpVisit {
  /** The host that is asked for. */
  name: string;
  /** Where it is: every address of it, as the DNS says. Addresses of the domain's owner only, never of other networks than visitors use. */
  addresses: readonly string[];
  port: number;
  token: string;
  /** What has to come back. */
  value: string;
}

/** Visits each address: an authority prefers those of IPv6. @throws {JobFailure} telling which one does not lead here, and what came back. */
export async function visitChallenge({ name, addresses, port, token, value }: HttpVisit): Promise<void> {
  await Promise.all(
    addresses.map(async (address) => {
      const place = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
      const answer = await ask(name, address, port, `/.well-known/acme-challenge/${token}`);
      if (typeof answer === 'string')
        throw new JobFailure(
          'http01Unreachable',
          `http://${name}/ could not be visited at ${place}: ${answer}. Port 80 of the domain must lead to this gateway.`,
        );
      if (answer.status !== 200 || answer.body !== value)
        throw new JobFailure(
          'http01Mismatch',
          `http://${name}/ leads to another server at ${place}: the gateway’s own challenge was answered with status ${answer.status}. ${isIPv6(address) ? 'Remove the AAAA record, or let it' : 'Let the records'} lead to this gateway.`,
        );
    }),
  );
}

function ask(
  name: string,
  address: string,
  port: number,
  path: string,
): Promise<{ status: number; body: string } | string> {
  return new Promise((resolve) => {
    const request = get(
      { host: address, port, path, headers: { Host: name }, agent: false, timeout: TIMEOUT_MS },
      (response) => {
        let body = '';
        response.setEncoding('latin1');
        response.on('data', (text: string) => {
          body += text;
          if (body.length > BODY_MAX) response.destroy();
        });
        response.on('close', () => resolve({ status: response.statusCode ?? 0, body: body.trim() }));
      },
    );
    const deadline = setTimeout(() => request.destroy(new Error('no answer came in time')), TIMEOUT_MS);
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.on('close', () => clearTimeout(deadline));
  });
}
