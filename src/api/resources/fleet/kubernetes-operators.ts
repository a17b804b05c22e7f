// Operators in clusters of Kubernetes: what each says of itself. It keeps domains, addresses, endpoints and policies as its cluster has
// them, by the API like anybody else. The gateway brings no endpoints into clusters, so that no operator has a binding.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { listArguments, readList } from '../../collections/list.ts';
import { NOTED_MEMBERS, text, texts, time } from '../../collections/members.ts';
import { tableOf } from '../../collections/nodes.ts';
import { rowFields } from '../../collections/notes.ts';
import { connectionOf } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { nounOf } from '../../naming.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { type Route, route } from '../../route.ts';
import { checkBytes } from '../../text-limits.ts';
import { Owner } from '../accounts/owner.ts';
import { Endpoint, endpointCollection, extendedSelection } from '../tunnels/endpoints.ts';

const ROW = { prefix: 'k8sop', path: '/kubernetes_operators' };
/** The longest of the texts that an operator says of itself, and the most features; a name in Kubernetes has at most 253. */
const TEXT_MAX_BYTES = 255;
const FEATURES_MAX = 16;
/** The feature by which endpoints would come into the cluster. */
const BINDINGS = 'bindings';

interface Deployment {
  name: string;
  namespace: string;
  version: string;
  clusterName: string;
}

const deploymentHelp = {
  name: 'The name of its deployment.',
  namespace: 'The namespace that it is in.',
  version: 'Its version.',
  clusterName: 'What the cluster is called.',
};

const Deployment = builder.objectRef<Deployment>('KubernetesOperatorDeployment').implement({
  description: 'Where in its cluster an operator is, as it says.',
  fields: (t) => ({
    name: t.exposeString('name', { description: deploymentHelp.name }),
    namespace: t.exposeString('namespace', { description: deploymentHelp.namespace }),
    version: t.exposeString('version', { description: deploymentHelp.version }),
    clusterName: t.exposeString('clusterName', { description: deploymentHelp.clusterName }),
  }),
});

const Binding = builder.objectRef<{ endpointSelectors: string[] }>('KubernetesOperatorBinding').implement({
  description: 'Which endpoints an operator brings into its cluster.',
  fields: (t) => ({
    endpointSelectors: t.exposeStringList('endpointSelectors', {
      description: 'Conditions in CEL, by which they are chosen.',
    }),
  }),
});

const DeploymentInput = builder.inputType('KubernetesOperatorDeploymentInput', {
  description: 'Where in its cluster an operator is.',
  fields: (t) => ({
    name: t.string({ description: deploymentHelp.name }),
    namespace: t.string({ description: deploymentHelp.namespace }),
    version: t.string({ description: deploymentHelp.version }),
    clusterName: t.string({ description: deploymentHelp.clusterName }),
  }),
});

const BindingInput = builder.inputType('KubernetesOperatorBindingInput', {
  description:
    'Which endpoints an operator is to bring into its cluster: none, so that every member is left out or empty.',
  fields: (t) => ({
    endpointSelectors: t.stringList({ description: 'It has to be left out, or empty.' }),
    csr: t.string({ description: 'It has to be left out, or empty.' }),
  }),
});

const KubernetesOperator = builder.prismaObject('KubernetesOperator', {
  description: 'An operator in a cluster of Kubernetes, which keeps objects of your account as the cluster has them.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    updatedAt: t.expose('updatedAt', { type: 'Timestamp', description: 'When it was changed last.' }),
    principal: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who created it. ${WHEN_GONE}`,
      select: { createdBy: true },
      resolve: reference(({ createdBy }) => createdBy),
    }),
    enabledFeatures: t.exposeStringList('enabledFeatures', {
      description: 'What it does, as it says: `ingress`, `gateway`.',
    }),
    region: t.exposeString('region', { description: 'The region as it was given; "" when it was not.' }),
    deployment: t.field({
      type: Deployment,
      description: 'Where in its cluster it is, as it says.',
      select: { deploymentName: true, deploymentNamespace: true, deploymentVersion: true, clusterName: true },
      resolve: ({ deploymentName: name, deploymentNamespace: namespace, deploymentVersion: version, clusterName }) => ({
        name,
        namespace,
        version,
        clusterName,
      }),
    }),
    binding: t.field({
      type: Binding,
      nullable: true,
      description: 'Always null: the gateway brings no endpoints into clusters.',
      resolve: () => null,
    }),
  }),
});

const inputHelp = {
  enabledFeatures: 'What it does: at most 16 texts, as `ingress` and `gateway`; not `bindings`.',
  region: 'Where it is, at most 255 bytes.',
  deployment: 'Where in its cluster it is; each member has at most 255 bytes.',
  binding: 'Which endpoints it is to bring into its cluster, of which there can be none: left out, null or empty.',
};

interface Input {
  enabledFeatures?: string[] | null;
  region?: string | null;
  deployment?: {
    name?: string | null;
    namespace?: string | null;
    version?: string | null;
    clusterName?: string | null;
  } | null;
  binding?: { endpointSelectors?: string[] | null; csr?: string | null } | null;
}

/** @returns the columns of what was given. @throws {ApiError} for what is too long, and for a binding. */
function columnsOf({ enabledFeatures, region, deployment, binding }: Input) {
  const { name, namespace, version, clusterName } = deployment ?? {};
  const given = { name, namespace, version, clusterName };
  const checkText = (member: string, value: string | null | undefined) =>
    checkBytes(member, value ?? '', TEXT_MAX_BYTES, 'operatorTextTooLong');
  checkAll({
    features: () => checkFeatures(enabledFeatures ?? []),
    region: () => checkText('region', region),
    deployment: () => checkEach(Object.entries(given), ([member, value]) => checkText(`deployment.${member}`, value)),
    binding() {
      if (binding?.csr || binding?.endpointSelectors?.some((selector) => selector !== ''))
        throw new ApiError('operatorBinding', { member: 'binding' });
    },
  });
  return {
    enabledFeatures: enabledFeatures ?? undefined,
    region: region ?? undefined,
    deploymentName: name ?? undefined,
    deploymentNamespace: namespace ?? undefined,
    deploymentVersion: version ?? undefined,
    clusterName: clusterName ?? undefined,
  };
}

function checkFeatures(features: readonly string[]): void {
  const member = 'enabledFeatures';
  if (features.length > FEATURES_MAX) throw new ApiError('tooManyFeatures', { member, max: FEATURES_MAX });
  checkEach(features, (feature, index) => {
    const place = `${member}[${index}]`;
    if (feature.toLowerCase() === BINDINGS) throw new ApiError('operatorBinding', { member: place });
    checkBytes(place, feature, TEXT_MAX_BYTES, 'operatorTextTooLong');
  });
}

const operators = resource({
  kind: 'kubernetesOperator',
  model: 'KubernetesOperator',
  ...ROW,
  ref: KubernetesOperator,
  listKey: 'operators',
  shows:
    'id uri createdAt updatedAt description metadata principal { id uri } enabledFeatures region ' +
    'deployment { name namespace version clusterName } binding { endpointSelectors }',
  members: {
    ...NOTED_MEMBERS,
    updated_at: time('updatedAt', { isOrdered: false }),
    region: text('region'),
    enabled_features: texts('enabledFeatures'),
    'deployment.name': text('deploymentName'),
    'deployment.namespace': text('deploymentNamespace'),
    'deployment.cluster_name': text('clusterName'),
  },
  audit: { name: 'kubernetes_operator', subject: 'A Kubernetes operator' },
  search: {
    ...{ rank: 47, table: 'kubernetes_operator', title: 't.deployment_name', detail: 't.description' },
    texts: ['t.deployment_name', 't.deployment_namespace', 't.cluster_name', ...NOTE_COLUMNS],
  },
  create: {
    description: 'Registers an operator in a cluster of Kubernetes: what it says of itself.',
    note: 'Every member may be left out.',
    input: (t) => ({
      enabledFeatures: t.stringList({ description: inputHelp.enabledFeatures }),
      region: t.string({ description: inputHelp.region }),
      deployment: t.field({ type: DeploymentInput, description: inputHelp.deployment }),
      binding: t.field({ type: BindingInput, description: inputHelp.binding }),
    }),
    write(input, { caller, app }) {
      const at = new Date(app.now());
      return { ...columnsOf(input), createdBy: caller.ownerId, createdAt: at, updatedAt: at };
    },
  },
  update: {
    description: 'Changes what a Kubernetes operator says of itself.',
    input: (t) => ({
      enabledFeatures: t.stringList({ description: inputHelp.enabledFeatures }),
      region: t.string({ description: inputHelp.region }),
      deployment: t.field({
        type: DeploymentInput,
        description: `${inputHelp.deployment} Members left out stay as they are.`,
      }),
      binding: t.field({ type: BindingInput, description: inputHelp.binding }),
    }),
    write: (input, { app }) => ({ ...columnsOf(input), updatedAt: new Date(app.now()) }),
  },
  remove: { description: 'Forgets a Kubernetes operator. What it has made stays. Answers with its id.' },
});

builder.queryField('kubernetesOperatorBoundEndpoints', (t) =>
  t.field({
    type: connectionOf(Endpoint, 'BoundEndpoint'),
    nullable: true,
    access: { kind: operators.kind },
    description:
      'The endpoints that an operator brings into its cluster: none, as there are no endpoints with the binding `kubernetes`. Fails with ' +
      '`NOT_FOUND` when your account has no such operator.',
    args: {
      kubernetesOperatorId: t.arg.id({ required: true, description: 'The id of the operator: `k8sop_…`.' }),
      ...listArguments('Endpoint', endpointCollection.members),
    },
    resolve: async (_, { kubernetesOperatorId: id, ...args }, context, info) => {
      const { accountId, db } = context;
      const find = () => db.kubernetesOperator.findUnique({ where: { id, accountId }, select: { id: true } });
      requireFound(isId(ROW.prefix, id) ? await find() : null, nounOf(operators.kind));
      const query = queryFromInfo({ context, info, typeName: 'Endpoint', paths: [['nodes'], ['edges', 'node']] });
      const { prefix, members } = endpointCollection;
      const source = {
        prefix,
        members,
        path: `${ROW.path}/${id}/bound_endpoints`,
        table: tableOf(endpointCollection, db),
      };
      return readList({ ...source, scope: { accountId, id: { in: [] } } }, args, context, query);
    },
  }),
);

export const routes: Route[] = [
  ...operators.routes,
  route(
    'GET',
    '/kubernetes_operators/:kubernetes_operator_id/bound_endpoints',
    200,
    'kubernetesOperatorBoundEndpoints',
    `endpoints: nodes { ${extendedSelection} } uri nextPageUri`,
  ),
];
