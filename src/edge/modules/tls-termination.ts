// Who ends the TLS of visitors to a TLS edge.

import type { ModuleSettings } from './descriptor.ts';

export interface TlsTerminationSettings extends ModuleSettings {
  /** `upstream`: the visitor's TLS goes through to the agent. */
  terminateAt: 'edge' | 'upstream';
  minVersion: '1.2' | '1.3';
}

export interface MutualTlsSettings extends ModuleSettings {
  /** Certificates in PEM. */
  authorities: { id: string; pem: string }[];
}

interface TlsModules {
  mutualTls: { enabled: boolean } | undefined;
  tlsTermination: TlsTerminationSettings | undefined;
}

/**
 * Whether a TLS edge ends visitors' TLS; else it goes through to the agent. The module says so. Where it is not set, or
 * off, TLS goes through, unless there is mutual TLS, which cannot be had otherwise.
 */
export function endsTls({ mutualTls, tlsTermination }: TlsModules): boolean {
  return tlsTermination?.enabled ? tlsTermination.terminateAt === 'edge' : mutualTls?.enabled === true;
}

/** Whether both modules can act: mutual TLS needs to see the handshake. */
export function goTogether({ mutualTls, tlsTermination }: TlsModules): boolean {
  return !mutualTls?.enabled || endsTls({ mutualTls, tlsTermination });
}
