// What the tests ask of Relay beside the documents of the manual. After a change here or there: `node test/graphql/relay/compile.js`.

import { graphql } from './artifacts.ts';

/** Rules, each with the policy that it belongs to. */
export const rules = graphql`
  query storeRulesQuery {
    ipPolicyRules(first: 100) @connection(key: "store_ipPolicyRules") {
      edges { node { cidr ipPolicy { description uri } } }
    }
  }`;

/** The same policies again, as a list. */
export const policies = graphql`
  query storePoliciesQuery {
    ipPolicies(first: 100) @connection(key: "store_ipPolicies") {
      edges { node { ...storePolicy } }
    }
  }`;

/** What is fetched again by its id alone. */
export const policy = graphql`
  fragment storePolicy on IpPolicy @refetchable(queryName: "storePolicyQuery") { description createdAt metadata }`;

/** All that leads to an owner, of either kind. */
export const owners = graphql`
  query storeOwnersQuery {
    credentials(first: 100) { nodes { owner { __typename id uri ...storeOwner } } }
    apiKeys(first: 100) { nodes { owner { ...storeOwner } } }
  }`;
export const owner = graphql`
  fragment storeOwner on Owner { id ... on User { email } ... on BotUser { name } }`;

export const update = graphql`
  mutation storeUpdateMutation($id: ID!, $description: String!) @raw_response_type {
    updateIpPolicy(id: $id, input: { description: $description }) { ipPolicy { id description } }
  }`;
export const createFirst = graphql`
  mutation storeCreateFirstMutation($connections: [ID!]!) {
    createIpPolicy(input: { description: "first" }) {
      ipPolicy @prependNode(connections: $connections, edgeTypeName: "IpPolicyConnectionEdge") { id ...storePolicy }
    }
  }`;
export const createNext = graphql`
  mutation storeCreateNextMutation($connections: [ID!]!) {
    createIpPolicy(input: { description: "next" }) {
      ipPolicy @appendNode(connections: $connections, edgeTypeName: "IpPolicyConnectionEdge") { ...storePolicy }
    }
  }`;
export const createLast = graphql`
  mutation storeCreateLastMutation($connections: [ID!]!) {
    createIpPolicy(input: { description: "last" }) {
      ipPolicyEdge @appendEdge(connections: $connections) { cursor node { ...storePolicy } }
    }
  }`;
export const removePolicy = graphql`
  mutation storeRemovePolicyMutation($id: ID!) {
    deleteIpPolicy(id: $id) { deletedIpPolicyId @deleteRecord }
  }`;
