// The page that the manual makes with Relay: a list in its store, and what changes of it.

import {
  ConnectionHandler,
  commitMutation,
  Environment,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
  type Variables,
} from 'relay-runtime';
import { codeOf, type PageCode, socketCode } from '../page-code.ts';
import { graphql, type RelayArtifact } from './artifacts.ts';
import type { RelayPage } from './page.ts';

const [environmentCode = '', listCode = '', mutationCode = '', liveCode = ''] = codeOf('Relay');
const imported = {
  ConnectionHandler,
  commitMutation,
  Environment,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
};

/** Runs code of the manual; all that it imports is there. */
const run = (code: PageCode, text: string, names: Record<string, unknown> = {}) =>
  code.run(text, { ...imported, graphql, ...names });

export const newEnvironment = (code: PageCode): Promise<Environment> =>
  run(code, `${socketCode} ${environmentCode} return environment;`);

/** Creates a credential, and deletes it. @returns what the creation gave. */
export const runMutations = (code: PageCode, environment: Environment) =>
  run(code, `${mutationCode} return { createCredential };`, { environment });

/** Has the store hear of what happens to credentials. @param refetch is called whenever the list has to be asked for again. */
export const follow = (code: PageCode, environment: Environment, refetch: () => void): Promise<{ dispose(): void }> =>
  run(code, liveCode.replace('requestSubscription', 'return requestSubscription'), { environment, refetch });

/** The list of credentials, as a page shows it. */
export async function listOn(code: PageCode, page: RelayPage, variables: Variables) {
  const [list, row]: [RelayArtifact, RelayArtifact] = await run(code, `${listCode} return [list, row];`);
  const shown = await page.show(list, variables);
  const rows = () => shown().credentials.edges.map(({ node }: { node: object }) => page.read(row, node));
  return {
    info: () => shown().credentials.pageInfo,
    rows,
    ids: () => rows().map(({ id }: { id: string }) => id),
    fetch: (more: Variables) => page.fetch(list, more),
  };
}
