// The clients that keep what they are told in a store of objects by their ids, made by the code of the manual: Apollo Client, and urql
// with its normalized cache.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, mapExchange, subscriptionExchange } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { buildSchema, getOperationAST, introspectionFromSchema, parse } from 'graphql';
import { root } from '../support/root.ts';
import { codeOf, PageCode, socketCode } from './page-code.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
type Data = any;

/** A client, as the tests see it. */
export interface StoreClient {
  /** Keeps showing what a query gives: out of the store, where it changes. @returns what is shown now. */
  watch(query: string, variables?: object): Promise<() => Data>;
  /** Runs a mutation, or a query past the store. */
  run(document: string, variables?: object): Promise<Data>;
  /** Has the store hear of what happens to credentials, as the manual says. */
  follow(): Promise<void>;
  /** What went wrong, in the store too. */
  readonly problems: string[];
  close(): Promise<void>;
}

const [, apolloCode = '', urqlCode = ''] = codeOf('The store');
const [, apolloLive = '', urqlLive = ''] = codeOf('What changes');

/** What the code of the manual for Apollo Client imports. */
export const apolloNames = { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, GraphQLWsLink, getOperationAST };

/** The manual's Apollo Client. */
export const apolloSetUp = `${socketCode} ${apolloCode}`;

export async function apolloOf(api: string, key: string, retryWait?: () => Promise<void>): Promise<StoreClient> {
  const problems: string[] = [];
  const report = (error: unknown) => void problems.push(String(error));
  const page = new PageCode(api, key, retryWait);
  const client: ApolloClient = await page.run(`${apolloSetUp} return client;`, apolloNames);
  return {
    problems,
    async watch(query, variables = {}) {
      let shown: Data;
      const watched = client.watchQuery({ query: gql(query), variables });
      await new Promise<void>((resolve) => {
        watched.subscribe(({ data, dataState, error }) => {
          if (error) report(error);
          if (dataState !== 'complete') return;
          shown = data;
          resolve();
        });
      });
      return () => shown;
    },
    async run(document, variables = {}) {
      const node = gql(document);
      const isMutation = getOperationAST(node)?.operation === 'mutation';
      const { data } = isMutation
        ? await client.mutate({ mutation: node, variables })
        : await client.query({ query: node, variables, fetchPolicy: 'network-only' });
      return data;
    },
    follow: () => page.run(apolloLive, { client, gql, report }),
    async close() {
      client.stop();
      await page.close();
    },
  };
}

const introspection = () =>
  introspectionFromSchema(buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'), { assumeValid: true }));

export async function urqlOf(api: string, key: string, retryWait?: () => Promise<void>): Promise<StoreClient> {
  const problems: string[] = [];
  const report = (error: unknown) => void problems.push(String(error));
  const page = new PageCode(api, key, retryWait);
  const names = {
    Client,
    fetchExchange,
    mapExchange,
    subscriptionExchange,
    schema: introspection(),
    cacheExchange: (options: CacheExchangeOpts) =>
      cacheExchange({ ...options, logger: (_, message) => void problems.push(message) }),
  };
  const made = await page.run(`${socketCode} ${urqlCode} return { client, shown };`, names);
  const client: Client = made.client;
  const stops: (() => void)[] = [];
  const asked = (text: string) => parse(text, { noLocation: true });
  return {
    problems,
    async watch(query, variables = {}) {
      let shown: Data;
      await new Promise<void>((resolve) => {
        const { unsubscribe } = client.query(asked(query), variables).subscribe(({ data, error }) => {
          if (error) problems.push(error.message);
          if (!data) return;
          shown = data;
          resolve();
        });
        stops.push(unsubscribe);
      });
      return () => shown;
    },
    async run(document, variables = {}) {
      const isMutation = getOperationAST(parse(document))?.operation === 'mutation';
      const { data, error } = isMutation
        ? await client.mutation(asked(document), variables)
        : await client.query(asked(document), variables, { requestPolicy: 'network-only' });
      if (error) throw error;
      return data;
    },
    follow: () => page.run(urqlLive, { ...made, report }),
    async close() {
      for (const stop of stops) stop();
      await page.close();
    },
  };
}
