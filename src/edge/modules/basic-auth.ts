// Lets in visitors who know a user name and its password.

import type { HttpModule } from '../../http/module.ts';
import { ModuleReport } from '../../http/module-report.ts';
import {
  basicChallenge,
  credentialsDigest,
  matchesDigest,
  readBasicCredentials,
} from '../../policy/auth/basic-credentials.ts';
import type { Fields } from '../../protocol/messages/fields.ts';
import { AgentError } from '../../tunnel/control/agent-errors.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';

export interface BasicAuthSettings extends ModuleSettings {
  realm: string;
  credentials: { username: string; password: string }[];
}

const report = new ModuleReport<{ decision: 'allow' | 'deny'; username: string }>('basic_auth', {
  decision: {
    type: 'word',
    description: 'What basic auth decided: "allow" or "deny".',
    read: ({ decision }) => decision,
  },
  username: {
    type: 'string',
    description: 'The user name that was given to basic auth.',
    read: ({ username }) => username,
  },
});

export const basicAuthModule: ModuleDescriptor<BasicAuthSettings> = {
  key: 'basicAuth',
  phase: 'user',
  create: (settings) => ({ http: basicAuth(settings) }),
  report,
  mapSecrets: ({ credentials, ...rest }, change) => ({
    ...rest,
    credentials: credentials.map(({ username, password }) => ({
      username,
      password: change(password, `.${username}`),
    })),
  }),
  bindOption: {
    names: ['Auth', 'BasicAuth'],
    scope: 'http',
    // Some SDKs send an empty text where they ask for nothing.
    isAsked: (options, name) => name !== 'Auth' || options.text(name) !== '',
    read: (options, name) => ({
      enabled: true,
      realm: TUNNEL_REALM,
      credentials: name === 'Auth' ? [readPair(options.text(name))] : readCredentials(options.fields(name)),
    }),
  },
};

const TUNNEL_REALM = 'tunnel';

/** @param text a user name and a password with a colon between them. */
function readPair(text: string): { username: string; password: string } {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  return { username, password };
}

function readCredentials(option: Fields): BasicAuthSettings['credentials'] {
  return option.list('credentials').map((credential) => {
    const password = credential.text('cleartext_password');
    if (!password && credential.has('hashed_password') && credential.text('hashed_password'))
      throw new AgentError('optionNotActedOn', { option: 'hashed_password' });
    return { username: credential.text('username'), password };
  });
}

/** Others are turned away with 401. The `Authorization` of those who come in goes on as it came. */
export function basicAuth({ credentials, realm }: Omit<BasicAuthSettings, 'enabled'>): HttpModule {
  const digests = credentials.map(credentialsDigest);
  return {
    name: 'basic_auth',
    onRequest({ request, decisions }) {
      const presented = readBasicCredentials(request.fields);
      const isLetIn = presented !== undefined && matchesDigest(presented, digests);
      if (decisions)
        report.note(decisions, { decision: isLetIn ? 'allow' : 'deny', username: presented?.username ?? '' });
      return isLetIn ? undefined : basicChallenge(realm, presented);
    },
  };
}
