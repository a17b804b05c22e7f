import { Tag } from '../../ui/tag.tsx';

/** What modules are called, in the order in which a request meets them. */
const NAMES: Record<string, string> = {
  tlsTermination: 'TLS termination',
  mutualTls: 'mutual TLS',
  ipRestriction: 'IP restriction',
  userAgentFilter: 'user agent filter',
  basicAuth: 'basic auth',
  webhookVerification: 'webhook verification',
  circuitBreaker: 'circuit breaker',
  compression: 'compression',
  requestHeaders: 'request headers',
  responseHeaders: 'response headers',
  websocketTcpConverter: 'WebSocket to TCP',
  trafficPolicy: 'traffic policy',
  policy: 'policy',
  backend: 'backend',
};

/** The modules that are set: those that are switched off say so. */
export function ModuleTags({ of }: { of: object }) {
  const modules = of as Record<string, unknown>;
  const set = Object.entries(NAMES).flatMap(([key, name]) => {
    const module = modules[key];
    return isModule(module) ? [{ name, isOn: module.enabled }] : [];
  });
  if (set.length === 0) return null;
  return (
    <p class="endpoint-modules">
      {set.map(({ name, isOn }) => (
        <Tag key={name}>{isOn ? name : `${name}: off`}</Tag>
      ))}
    </p>
  );
}

function isModule(value: unknown): value is { enabled: boolean } {
  return typeof value === 'object' && value !== null && 'enabled' in value;
}
