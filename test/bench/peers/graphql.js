// Schema and resolvers of the GraphQL peers: SDL, and resolvers by hand over Prisma. Owners come with `include` when
// the selection asks for them: one statement for all, which is faster than Prisma's batched `findUnique` per row.

import { openPrisma, rfc3339 } from './common.js';

const PAGE = 100;

export const typeDefs = /* GraphQL */ `
  interface Owner { id: ID!  active: Boolean!  createdAt: String! }
  type User implements Owner { id: ID!  active: Boolean!  createdAt: String! }
  type BotUser implements Owner { id: ID!  active: Boolean!  createdAt: String! }
  type Credential {
    id: ID!
    uri: String!
    createdAt: String!
    description: String!
    metadata: String!
    token: String
    acl: [String!]!
    ownerId: ID!
    owner: Owner!
  }
  type CredentialConnection { nodes: [Credential!]!  uri: String!  nextPageUri: String }
  type Query {
    credential(id: ID!): Credential
    credentials(first: Int, after: ID): CredentialConnection
  }
`;

const prisma = openPrisma();

/** @typedef {{ caller: import('./common.js').Caller, base: string }} Context */

export const resolvers = {
  Query: {
    /** @param {unknown} _ @param {{ id: string }} args @param {Context} context @param {any} info */
    credential: (_, { id }, { caller: { accountId } }, info) =>
      prisma.credential.findFirst({ where: { id, accountId }, include: { owner: asksFor(info.fieldNodes, 'owner') } }),
    /** @param {unknown} _ @param {{ first?: number, after?: string }} args @param {Context} context @param {any} info */
    credentials: async (_, { first, after }, { caller: { accountId }, base }, info) => {
      const limit = first ?? PAGE;
      const nodes = await prisma.credential.findMany({
        where: { accountId, ...(after ? { id: { lt: after } } : {}) },
        orderBy: { id: 'desc' },
        take: limit + 1,
        include: { owner: asksFor(info.fieldNodes, 'owner') },
      });
      const more = nodes.length > limit;
      if (more) nodes.pop();
      const uri = `${base}/credentials`;
      return { nodes, uri, nextPageUri: more ? `${uri}?before_id=${nodes.at(-1)?.id}&limit=${limit}` : null };
    },
  },
  Credential: {
    /** @param {{ id: string }} row @param {unknown} _ @param {Context} context */
    uri: ({ id }, _, { base }) => `${base}/credentials/${id}`,
    /** @param {{ createdAt: Date }} row */
    createdAt: ({ createdAt }) => rfc3339(createdAt),
    token: () => null,
  },
  Owner: {
    /** @param {{ kind: string }} row */
    __resolveType: ({ kind }) => (kind === 'BOT' ? 'BotUser' : 'User'),
  },
  User: {
    /** @param {{ createdAt: Date }} row */
    createdAt: ({ createdAt }) => rfc3339(createdAt),
  },
  BotUser: {
    /** @param {{ createdAt: Date }} row */
    createdAt: ({ createdAt }) => rfc3339(createdAt),
  },
};

/**
 * Whether a field is selected at any depth. The measured documents have no fragments.
 * @param {readonly any[]} nodes
 * @param {string} name
 * @returns {boolean}
 */
function asksFor(nodes, name) {
  return nodes.some((node) => node.name?.value === name || asksFor(node.selectionSet?.selections ?? [], name));
}
