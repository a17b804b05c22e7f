// What signs visitors in, with the providers that there are.

import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { VisitorSessionSource } from '../../http/visitor-sessions.ts';
import { hostsOfPolicies } from '../../net/reachable-hosts.ts';
import { followEndedAppSessions } from '../../store/visitors/app-session-rows.ts';
import { OauthProvider } from '../../visitor-sign-in/oauth/oauth-provider.ts';
import { OpenidProvider } from '../../visitor-sign-in/openid-provider.ts';
import { VisitorSignIn } from '../../visitor-sign-in/visitor-sign-in.ts';
import type { GatewayOptions } from '../gateway-options.ts';
import type { Storage } from '../storage.ts';

interface SignInParts {
  storage: Storage;
  baseUrl(): string;
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Stands in for the hosts of OAuth providers, in tests. */
  providerHosts: GatewayOptions['providerHosts'];
}

/** Makes what signs visitors in: in the process that has the database. */
export function visitorSignIn(
  config: Config,
  { storage, baseUrl, log, now, providerHosts }: SignInParts,
): VisitorSessionSource & Pick<VisitorSignIn, 'close'> {
  const { prisma, changes, keys } = storage;
  const openid = new OpenidProvider({ hosts: hostsOfPolicies(config), time: now, monotonic: () => performance.now() });
  const oauth = new OauthProvider({ time: now, standIn: providerHosts });
  const signIn = new VisitorSignIn({
    prisma,
    changes,
    keys,
    log,
    now,
    baseUrl,
    baseDomain: config.baseDomain,
    providerOf: ({ isOAuth }) => (isOAuth ? oauth : openid),
  });
  return Object.assign(signIn, {
    onEnded: (listener: Parameters<VisitorSessionSource['onEnded']>[0]) => followEndedAppSessions(changes, listener),
  });
}
