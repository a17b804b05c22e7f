// The modules `tls_termination` and `mutual_tls`: who ends the TLS of visitors, and whether they need a certificate. The
// second needs the first, so that they are in one file.

import { X509Certificate } from 'node:crypto';
import type { ConnectionModule } from '../../http/module.ts';
import type { ModuleDescriptor, ModuleSettings, ModulesSettings, TlsEffect } from './descriptor.ts';
import { mtlsHeaders } from './mtls-headers.ts';
import { SettingsError } from './settings-error.ts';

/** How the log and captured requests name the module that turned a visitor away. */
export const tlsModuleNames = { clientCertificates: 'mutual_tls', termination: 'tls_termination' } as const;

export interface TlsTerminationSettings extends ModuleSettings {
  /** `upstream`: the visitor's TLS goes through to the agent. */
  terminateAt: 'edge' | 'upstream';
  minVersion: '1.2' | '1.3';
}

export interface MutualTlsSettings extends ModuleSettings {
  /** Certificates in PEM; those of an agent have no id. */
  authorities: { id?: string; pem: string }[];
}

export const tlsTerminationModule: ModuleDescriptor<TlsTerminationSettings> = {
  key: 'tlsTermination',
  phase: 'tls',
  create: ({ terminateAt, minVersion }) => ({ tls: { terminateAt, minVersion: `TLSv${minVersion}` } }),
};

export const mutualTlsModule: ModuleDescriptor<MutualTlsSettings, ModuleSettings> = {
  key: 'mutualTls',
  phase: 'tls',
  create({ authorities }, { proto }) {
    if (authorities.length === 0) throw new Error('its mutual TLS has no certificate authority');
    const tls = { clientAuthorities: authorities.map(({ pem }) => pem) };
    return proto === 'https' ? { tls, http: { ...mtlsHeaders(), name: tlsModuleNames.clientCertificates } } : { tls };
  },
  resolve: ({ enabled }, { authorities }) => ({ enabled, authorities: [...authorities] }),
  bindOption: {
    names: ['MutualTLSCA', 'MutualTLSAtEdge'],
    scope: 'tls',
    read(options, name) {
      const bundle = Buffer.from(options.fields(name).text('mutual_tls_ca'), 'base64').toString();
      const authorities = bundle.match(CERTIFICATE) ?? [];
      if (authorities.length === 0 || !authorities.every(isAuthority))
        throw new SettingsError('mutual_tls_ca must hold the certificates of authorities, in PEM');
      return { enabled: true, authorities: authorities.map((pem) => ({ pem })) };
    },
  },
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}

/**
 * Whether a TLS edge ends visitors' TLS; else it goes through to the agent. The module says so. Where it is not set, or
 * off, TLS goes through, unless there is mutual TLS, which cannot be had otherwise.
 */
export function endsTls({ terminateAt, clientAuthorities }: TlsEffect): boolean {
  return terminateAt ? terminateAt === 'edge' : clientAuthorities !== undefined;
}

/** The same by the settings of an edge, which may be those that its row has. */
export function endsTlsBySettings(modules: ModulesSettings): boolean {
  const termination = modules[tlsTerminationModule.key] as TlsTerminationSettings | undefined;
  return termination?.enabled ? termination.terminateAt === 'edge' : requiresCertificate(modules);
}

/** @returns why a tunnel cannot have both mutual TLS and a policy; undefined when it can. */
export function certificateConflict(
  tls: TlsEffect | undefined,
  connection: readonly ConnectionModule[],
): string | undefined {
  if (!tls?.clientAuthorities || !connection.some(({ endsTls }) => endsTls)) return undefined;
  return 'mutual_tls_ca and a policy that terminates TLS do not go together';
}

/** Whether visitors need a certificate. */
export function requiresCertificate(modules: ModulesSettings): boolean {
  return modules[mutualTlsModule.key]?.enabled === true;
}
