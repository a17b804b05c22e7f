/** Listeners that a proxy may say who comes to, before the first byte: as `PROXY_PROTOCOL` names them. */
export const proxiedListeners = ['http', 'https', 'tcp', 'agent', 'api'] as const;

export type ProxiedListener = (typeof proxiedListeners)[number];

export function isProxiedListener(name: string): name is ProxiedListener {
  return (proxiedListeners as readonly string[]).includes(name);
}

/** Who may say in whose place a connection comes, or a request. */
export interface ProxySettings {
  /** Networks of proxies whose word on the client's address is believed. */
  trustedProxies: string[];
  /** Where connections from there begin with a header of the PROXY protocol. */
  proxyProtocol: readonly ProxiedListener[];
}
