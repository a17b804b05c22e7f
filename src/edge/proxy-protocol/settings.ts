/** Listeners that a proxy may say who comes to, before the first byte: as `PROXY_PROTOCOL` names them. */
export const proxyProtocolListeners = ['http', 'https', 'tcp', 'agent', 'api'] as const;

export type ProxyProtocolListener = (typeof proxyProtocolListeners)[number];

export function isProxyProtocolListener(name: string): name is ProxyProtocolListener {
  return (proxyProtocolListeners as readonly string[]).includes(name);
}

/** Who may say in whose place a connection comes, or a request. */
export interface ProxySettings {
  /** Networks of proxies whose word on the client's address is believed. */
  trustedProxies: string[];
  /** Where connections from there begin with a header of the PROXY protocol. */
  proxyProtocol: readonly ProxyProtocolListener[];
}
