// The OpenID provider of the tests of visitors' sign-in, for journeys. It is in TypeScript, which Node 20 does not run:
// Vite imports it.

import { join } from 'node:path';
import { runnerImport } from 'vite';
import { root } from './gateway.js';

/** @typedef {typeof import('../../visitor-sign-in/provider.ts')} ProviderModule */

/**
 * Starts a provider that knows one client.
 * @param {string} callback where it sends browsers back to
 */
export async function startIdentityProvider(callback) {
  const file = join(root, 'test/visitor-sign-in/provider.ts');
  const { module } = await runnerImport(file, { configFile: false, root, logLevel: 'error' });
  const { CLIENT, startProvider } = /** @type {ProviderModule} */ (module);
  return { provider: await startProvider({ callback }), client: CLIENT };
}

/**
 * Starts a provider that knows the callback of a gateway.
 * @param {string} api the base URL of the gateway's API
 * @param {string} apiKey of the account whose visitors sign in
 * @returns {Promise<{ provider: import('../../visitor-sign-in/provider.ts').TestProvider, action: object }>} the action of
 * a policy that signs visitors in there, asking for a password each time
 */
export async function startVisitorsProvider(api, apiKey) {
  const { provider, client } = await startIdentityProvider('https://none.example/');
  const response = await fetch(`${api}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      query: 'query ($issuer: String!) { signInCallback(issuer: $issuer) { url } }',
      variables: { issuer: provider.issuer },
    }),
  });
  provider.register((await response.json()).data.signInCallback.url);
  const config = {
    ...{ issuer_url: provider.issuer, ...client, scopes: ['email', 'profile'] },
    // Without it the provider would know the browser, and send it back at once.
    authz_url_params: { prompt: 'login' },
  };
  return { provider, action: { type: 'openid-connect', config } };
}
