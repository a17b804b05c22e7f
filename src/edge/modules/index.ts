// The descriptors of all modules, which the data plane and the store work with. A new module adds its line here, and in api/modules.

import { basicAuthModule } from './basic-auth.ts';
import { circuitBreakerModule } from './circuit-breaker.ts';
import { compressionModule } from './compression.ts';
import type { ModuleDescriptor } from './descriptor.ts';
import { requestHeadersModule, responseHeadersModule } from './headers.ts';
import { ipRestrictionModule } from './ip-restriction.ts';
import { oauthModule } from './oauth.ts';
import { oidcModule } from './oidc.ts';
import { mutualTlsModule, tlsTerminationModule } from './tls.ts';
import { trafficPolicyModule } from './traffic-policy.ts';
import { upstreamModule } from './upstream.ts';
import { userAgentFilterModule } from './user-agent-filter.ts';
import { webhookVerificationModule } from './webhook-verification.ts';
import { websocketTcpConverter } from './websocket-tcp-converter.ts';

// A list of descriptors holds many kinds.
export const moduleDescriptors = [
  mutualTlsModule,
  tlsTerminationModule,
  ipRestrictionModule,
  circuitBreakerModule,
  compressionModule,
  requestHeadersModule,
  responseHeadersModule,
  webhookVerificationModule,
  websocketTcpConverter,
  upstreamModule,
  userAgentFilterModule,
  basicAuthModule,
  oauthModule,
  oidcModule,
  trafficPolicyModule,
] as readonly ModuleDescriptor[];
