// Failures of a proxy.

/** What a proxy can do wrong, for programs. `net`: it cannot be reached, or the connection to it broke. */
export type ProxyFailure = 'PROXY_NET' | 'PROXY_LOGIN' | 'PROXY_REFUSED' | 'PROXY_PROTOCOL';

/** The proxy does not lead to the gateway. The message names the proxy and says why, and has no password. */
export class ProxyError extends Error {
  readonly code: ProxyFailure;

  constructor(code: ProxyFailure, message: string) {
    super(message);
    this.code = code;
  }
}
