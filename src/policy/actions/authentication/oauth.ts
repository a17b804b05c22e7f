// The action `oauth`: visitors sign in at one of the large providers (OAuth 2.0, RFC 6749), with PKCE and state.

import type { ActionKind } from '../../settings/action-kind.ts';
import { OAUTH_SCOPES, oauthProviderNames } from '../../sign-in/oauth-scopes.ts';
import { signInAction } from '../../sign-in/sign-in-action.ts';
import { readTerms, SHARED_MEMBERS } from '../../sign-in/terms.ts';

export const oauthAction: ActionKind = {
  type: 'oauth',
  phases: ['on_http_request'],
  members: ['provider', ...SHARED_MEMBERS],
  result: 'oauth',
  compile(config) {
    const issuer = config.choice('provider', oauthProviderNames);
    const settings = readTerms(config, { issuer, isOAuth: true, scopes: OAUTH_SCOPES[issuer] }, [
      'idle_session_timeout',
    ]);
    return signInAction(config, settings, {
      name: 'oauth',
      sessionId: 'current_provider_session_id',
      wasChecked: 'userinfo_refreshed',
      hasIdToken: false,
    });
  },
};
