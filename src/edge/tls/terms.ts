// TLS on other terms than the usual ones: versions, and certificates of visitors.

import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { TlsTerms } from '../module.ts';
import type { Shown } from './certificates.ts';
import { Handshakes } from './handshakes.ts';

/** Node's types do not know it yet: an authority that was issued by another one is trusted by itself. */
const PARTIAL_CHAIN = { allowPartialTrustChain: true };

const keys = new WeakMap<TlsTerms, string>();

/** Whether a connection that was made on the one terms is good for the other. */
export function isSameTerms(a: TlsTerms | undefined, b: TlsTerms | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && keyOf(a) === keyOf(b));
}

function keyOf(terms: TlsTerms): string {
  const key = keys.get(terms) ?? JSON.stringify(terms);
  keys.set(terms, key);
  return key;
}

/** Handshakes on any terms. There are few kinds of them; what differs from name to name is in the context. */
export class TermedHandshakes {
  readonly #kinds = new Map<string, Handshakes>();
  readonly #contexts = new WeakMap<TlsTerms, WeakMap<Shown, SecureContext>>();

  /**
   * @param named the name in `bytes` as it was sent, and the certificate for it.
   * @param alpn none for visitors who are not given HTTP.
   */
  begin(
    raw: Socket,
    bytes: Buffer,
    { name, shown, terms, alpn }: { name: string; shown: Shown; terms: TlsTerms; alpn: string[] | undefined },
    onSecure: (socket: TLSSocket) => void,
  ): void {
    const { clientVerification: verification = 'require-and-verify' } = terms;
    const isAsked = terms.clientAuthorities !== undefined || terms.clientVerification !== undefined;
    this.#kind(terms, isAsked ? verification : undefined, alpn).begin(
      raw,
      bytes,
      { name, context: this.#context(terms, shown) },
      (socket) => {
        // Node asks for any certificate, or for one that is vouched for.
        const isMissing = verification === 'require-any' && !socket.getPeerX509Certificate();
        if (isAsked && isMissing) socket.destroy();
        else onSecure(socket);
      },
    );
  }

  #kind(
    { minVersion, maxVersion }: TlsTerms,
    verification: string | undefined,
    alpn: string[] | undefined,
  ): Handshakes {
    const key = [minVersion, maxVersion, verification, alpn].join();
    const known = this.#kinds.get(key);
    if (known) return known;
    const clientCertificates = verification ? { isRequired: verification === 'require-and-verify' } : undefined;
    const kind = new Handshakes({ alpn, minVersion, maxVersion, clientCertificates });
    this.#kinds.set(key, kind);
    return kind;
  }

  #context(terms: TlsTerms, shown: Shown): SecureContext {
    const contexts = this.#contexts.get(terms) ?? new WeakMap<Shown, SecureContext>();
    this.#contexts.set(terms, contexts);
    const known = contexts.get(shown);
    if (known) return known;
    const { minVersion, maxVersion, clientAuthorities } = terms;
    // Without authorities of its own a context trusts all that Node knows; none may be trusted here.
    const ca = [...(clientAuthorities ?? [])];
    const { cert, key } = terms.identity ?? shown;
    const context = createSecureContext({
      cert,
      key,
      ca,
      minVersion,
      maxVersion,
      honorCipherOrder: true,
      ...PARTIAL_CHAIN,
    });
    contexts.set(shown, context);
    return context;
  }
}
