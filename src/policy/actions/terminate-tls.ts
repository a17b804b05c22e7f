// The action `terminate-tls`: terminates the visitor's TLS at the gateway with the parameters of the policy.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { NewConnection, TlsParameters } from '../../http/module.ts';
import { certificateOf } from '../cel/variables/certificate.ts';
import type { ActionKind, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const VERSIONS = ['1.2', '1.3'] as const;
const STRATEGIES = ['require-and-verify', 'require-any', 'request'] as const;
const AUTHORITIES = 'mutual_tls_certificate_authorities';
const STRATEGY = 'mutual_tls_verification_strategy';
const AUTHORITIES_MAX = 10;
const PEM_MAX = 32 * 1024;
const INCOMPLETE_IDENTITY = 2240;
const RESULT = 'terminate_tls';

export const terminateTlsAction: ActionKind = {
  type: 'terminate-tls',
  phases: ['on_tcp_connect'],
  protos: ['https', 'tls'],
  members: ['min_version', 'max_version', 'server_certificate', 'server_private_key', AUTHORITIES, STRATEGY],
  result: RESULT,
  compile(config) {
    const parameters = readParameters(config);
    return {
      isTerminal: false,
      endsTls: true,
      async run(run) {
        const { connection } = run;
        if (!connection?.terminateTls || connection.tls)
          return { kind: 'close', reason: 'the connection has no TLS that could be ended, or it was ended before' };
        if (!(await connection.terminateTls(parameters))) return { kind: 'close', reason: 'the TLS handshake failed' };
        run.result(RESULT, resultOf(connection));
        return undefined;
      },
    };
  },
};

/** The result of the action, which also becomes `conn.tls`. */
function resultOf({ tls, serverName }: NewConnection) {
  const client = certificateOf(tls, 'client');
  return {
    version: tls?.getProtocol()?.replace('TLSv', '') ?? '',
    cipher_suite: tls?.getCipher()?.standardName ?? '',
    sni: serverName ?? '',
    negotiated_alpn: tls?.alpnProtocol || '',
    session_resumed: tls?.isSessionReused() ?? false,
    client: {
      subject: client?.subject.text ?? '',
      issuer: client?.issuer.text ?? '',
      san: client?.alternativeNames ?? '',
      serial_number: client?.serialNumber ?? '',
      pem: client?.pem ?? '',
    },
  };
}

function readParameters(config: ConfigReader): TlsParameters {
  const [min, max] = [config.choice('min_version', VERSIONS, '1.2'), config.choice('max_version', VERSIONS, '1.3')];
  if (min > max) config.problem('min_version', PROBLEM.range, 'must not be above max_version');
  const clientAuthorities = readAuthorities(config);
  const asksForCertificates = config.has(AUTHORITIES) || config.has(STRATEGY);
  const clientVerification = config.choice(STRATEGY, STRATEGIES, 'require-and-verify');
  if (config.raw(STRATEGY) === 'require-and-verify' && !config.has(AUTHORITIES))
    config.problem(
      AUTHORITIES,
      PROBLEM.missing,
      'is missing: certificates cannot be verified without the authorities that issue them',
    );
  return {
    minVersion: `TLSv${min}`,
    maxVersion: `TLSv${max}`,
    identity: readIdentity(config),
    ...(asksForCertificates && { clientAuthorities, clientVerification }),
  };
}

function readIdentity(config: ConfigReader): TlsParameters['identity'] {
  const members = ['server_certificate', 'server_private_key'] as const;
  const [hasCert, hasKey] = members.map((member) => config.has(member));
  if (!hasCert && !hasKey) return undefined;
  if (!hasCert || !hasKey) {
    config.problem(
      hasKey ? members[0] : members[1],
      INCOMPLETE_IDENTITY,
      `is missing: ${members.join(' and ')} go together`,
    );
    return undefined;
  }
  const [cert, key] = [readPem(config, members[0]), readPem(config, members[1])];
  if (!cert || !key) return undefined;
  const certificate = orUndefined(() => new X509Certificate(cert));
  const privateKey = orUndefined(() => createPrivateKey(key));
  if (!certificate)
    config.problem(
      members[0],
      PROBLEM.field,
      'must be a certificate in PEM, optionally followed by the rest of its chain',
    );
  if (!privateKey) config.problem(members[1], PROBLEM.field, 'must be a private key in PEM, without a password');
  if (!certificate || !privateKey) return undefined;
  if (!certificate.checkPrivateKey(privateKey))
    config.problem(members[1], PROBLEM.field, 'must be the key of server_certificate');
  else if (!orUndefined(() => createSecureContext({ cert, key })))
    config.problem(
      members[0],
      PROBLEM.field,
      'must be a certificate chain that TLS accepts: this one is too weak or broken',
    );
  return { cert, key };
}

function readAuthorities(config: ConfigReader): string[] {
  // An empty list is refused: it looks like mutual TLS but would accept every client.
  const authorities = config.has(AUTHORITIES) ? config.texts(AUTHORITIES, { min: 1, max: AUTHORITIES_MAX }) : [];
  for (const [i, pem] of authorities.entries()) {
    const problem = pem && authorityProblem(pem);
    if (problem) config.problem(`${AUTHORITIES}[${i}]`, PROBLEM.field, problem);
  }
  return authorities;
}

function authorityProblem(pem: string): string | undefined {
  if (pem.startsWith('ca_')) return 'must be the certificate itself, in PEM: policies cannot name stored authorities';
  if (pem.split('-----BEGIN ').length > 2) return 'must be one certificate: each authority is an entry of its own';
  const certificate = orUndefined(() => new X509Certificate(pem));
  if (!certificate) return 'must be a certificate in PEM';
  return certificate.ca ? undefined : 'must be the certificate of an authority (its basicConstraints must say CA:TRUE)';
}

/** Reads a PEM text. @returns '' after a mistake. */
function readPem(config: ConfigReader, member: string): string {
  const text = config.text(member, { max: PEM_MAX });
  if (!text.includes('${')) return text;
  config.problem(member, PROBLEM.template, 'must not be computed, because it is checked now');
  return '';
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
