// The clients that keep what they are told in a store of objects by their ids: Apollo Client, and urql with its normalized cache.

import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { getOperationAST, introspectionFromSchema, isAbstractType, parse } from 'graphql';
import { schema } from '../../src/api/schema.ts';
import { clientOf } from './streams/socket-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
type Data = any;

/** A client, as the tests see it. */
export interface StoreClient {
  /** Keeps showing what a query gives: out of the store, where it changes. @returns what is shown now. */
  watch(query: string, variables?: object): Promise<() => Data>;
  /** Runs a mutation, or a query past the store. */
  run(document: string, variables?: object): Promise<Data>;
  /** Has the store hear of what a subscription tells. */
  follow(subscription: string): void;
  /** What went wrong, in the store too. */
  readonly problems: string[];
  close(): Promise<void>;
}

const possibleTypes = Object.fromEntries(
  Object.values(schema.getTypeMap())
    .filter(isAbstractType)
    .map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
);

export function apolloOf(api: string, key: string): StoreClient {
  const problems: string[] = [];
  const socket = clientOf(api, key);
  const link = ApolloLink.split(
    ({ query }) => getOperationAST(query)?.operation === 'subscription',
    new GraphQLWsLink(socket),
    new HttpLink({ uri: `${api}/graphql`, headers: { Authorization: `Bearer ${key}` } }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache({ possibleTypes }) });
  const stops: (() => void)[] = [];
  const fail = (error: unknown) => void problems.push(String(error));
  return {
    problems,
    async watch(query, variables = {}) {
      let shown: Data;
      const watched = client.watchQuery({ query: gql(query), variables });
      await new Promise<void>((resolve) => {
        const subscription = watched.subscribe(({ data, dataState, error }) => {
          if (error) fail(error);
          if (dataState !== 'complete') return;
          shown = data;
          resolve();
        });
        stops.push(() => subscription.unsubscribe());
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
    follow(subscription) {
      const following = client.subscribe({ query: gql(subscription) }).subscribe(({ error }) => error && fail(error));
      stops.push(() => following.unsubscribe());
    },
    async close() {
      for (const stop of stops) stop();
      client.stop();
      await socket.dispose();
    },
  };
}

export function urqlOf(api: string, key: string): StoreClient {
  const problems: string[] = [];
  const socket = clientOf(api, key);
  const stops: (() => void)[] = [];
  const client = new Client({
    url: `${api}/graphql`,
    preferGetMethod: false,
    fetchOptions: { headers: { Authorization: `Bearer ${key}` } },
    exchanges: [
      cacheExchange({
        schema: introspectionFromSchema(schema) as never, // Its own type for the same.
        logger: (severity, message) => {
          // Objects without an id are kept within their parents: that is said once of each type.
          if (severity === 'error' || !/No key could be generated|Invalid key/.test(message)) problems.push(message);
        },
      }),
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, variables: variables as Record<string, unknown> }, sink as never),
          }),
        }),
      }),
      fetchExchange,
    ],
  });
  const asked = (text: string) => parse(text, { noLocation: true });
  return {
    problems,
    async watch(query, variables = {}) {
      let shown: Data;
      await new Promise<void>((resolve) => {
        const { unsubscribe } = client.query(asked(query), variables).subscribe(({ data, error }) => {
          if (error) problems.push(error.message);
          shown = data;
          if (data) resolve();
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
    follow(subscription) {
      const { unsubscribe } = client.subscription(asked(subscription), {}).subscribe(({ error }) => {
        if (error) problems.push(error.message);
      });
      stops.push(unsubscribe);
    },
    async close() {
      for (const stop of stops) stop();
      await socket.dispose();
    },
  };
}
