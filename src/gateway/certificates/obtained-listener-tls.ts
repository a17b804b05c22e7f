// The certificate of the API listener, where it is one that the gateway obtained for itself.

import type { Logger } from 'pino';
import type { ListenerTls, TlsPair } from '../../api/http/listener-tls.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { ownCertificate } from '../../store/certificates/own-certificates.ts';
import type { Storage } from '../storage.ts';

/** How often it is read again whatever was heard, and the development authority issues another one; milliseconds. */
const READ_MS = 24 * 3_600_000;

/**
 * @param host the name in the URL of the API.
 * @param development makes a certificate of the development authority, which is shown until one was obtained.
 */
export async function openObtainedTls(
  host: string,
  { prisma, changes, keys }: Storage,
  development: () => Promise<TlsPair>,
  log: Logger,
): Promise<ListenerTls> {
  let onPair: ((pair: TlsPair) => void) | undefined;
  const read = async () => (await ownCertificate(prisma, keys, host)) ?? (await development());
  let pair = await read();
  const readAgain = () =>
    read().then(
      (next) => {
        if (next.cert === pair.cert) return;
        pair = next;
        onPair?.(pair);
      },
      (error) =>
        log.warn(
          { err: describeFailure(error) },
          'the certificate of the API could not be read; the previous one stays',
        ),
    );
  const stop = changes.listen(({ kind, accountId }) => {
    if (kind === 'tlsCertificate' && accountId === '') void readAgain();
  });
  const timer = setInterval(() => void readAgain(), READ_MS).unref();
  return {
    get pair() {
      return pair;
    },
    onChange(listener) {
      onPair = listener;
    },
    // Those of jobs are told of with the others that are obtained.
    expiries: () => ({ first: [], expiring: 0, expired: 0 }),
    close() {
      stop();
      clearInterval(timer);
    },
  };
}
