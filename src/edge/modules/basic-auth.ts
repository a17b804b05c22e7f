// Lets in visitors who know a user name and its password.

import type { HttpModule } from '../../http/module.ts';
import {
  basicChallenge,
  credentialsDigest,
  matchesDigest,
  readBasicCredentials,
} from '../../policy/auth/basic-credentials.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';

export interface BasicAuthSettings extends ModuleSettings {
  realm: string;
  credentials: { username: string; password: string }[];
}

export const basicAuthModule: ModuleDescriptor<BasicAuthSettings> = {
  key: 'basicAuth',
  phase: 'user',
  create: (settings) => ({ http: basicAuth(settings) }),
  mapSecrets: ({ credentials, ...rest }, change) => ({
    ...rest,
    credentials: credentials.map(({ username, password }) => ({
      username,
      password: change(password, `.${username}`),
    })),
  }),
};

/** Others are turned away with 401. The `Authorization` of those who come in goes on as it came. */
export function basicAuth({ credentials, realm }: Omit<BasicAuthSettings, 'enabled'>): HttpModule {
  const digests = credentials.map(credentialsDigest);
  return {
    name: 'basic_auth',
    onRequest({ request, decisions }) {
      const presented = readBasicCredentials(request.fields);
      const isLetIn = presented !== undefined && matchesDigest(presented, digests);
      if (decisions)
        decisions.basicAuth = { decision: isLetIn ? 'allow' : 'deny', username: presented?.username ?? '' };
      return isLetIn ? undefined : basicChallenge(realm, presented);
    },
  };
}
