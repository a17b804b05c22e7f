// The edge that serves an endpoint, with its routes and modules.

import type { Operation } from '../../data/client/operation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { edgeRoutePath, kindOf, objectPath } from '../../data/routing/paths.ts';
import {
  EndpointHttpsEdge,
  EndpointTcpEdge,
  type EndpointTcpEdgeQuery,
  EndpointTlsEdge,
  type EndpointTlsEdgeQuery,
} from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { ModuleTags } from './module-tags.tsx';

type ConnectionEdgeOperation = Operation<EndpointTlsEdgeQuery | EndpointTcpEdgeQuery, { id: string }>;
/** The edges that send whole connections to a backend. */
const connectionEdges = {
  tlsEdge: EndpointTlsEdge as ConnectionEdgeOperation,
  tcpEdge: EndpointTcpEdge as ConnectionEdgeOperation,
};

export function EdgeSection({ id }: { id: string }) {
  const kind = kindOf(id);
  return kind === 'tlsEdge' || kind === 'tcpEdge' ? (
    <ConnectionEdgeSection kind={kind} id={id} />
  ) : (
    <HttpsEdgeSection id={id} />
  );
}

function HttpsEdgeSection({ id }: { id: string }) {
  const { data, error } = useQuery(EndpointHttpsEdge, { id }, { kinds: ['httpsEdge', 'httpsEdgeRoute'] });
  const edge = data?.httpsEdge;
  return (
    <Section title="Its edge" actions={<a href={objectPath('httpsEdge', id)}>{edge?.description || id}</a>}>
      <ErrorNote error={error} />
      {!edge && !error && <Skeleton />}
      {edge && (
        <>
          <ModuleTags kind="httpsEdge" host={edge} />
          <ul class="endpoint-routes">
            {edge.routes.map((route) => (
              <li key={route.id}>
                <a href={edgeRoutePath(id, route.id)}>
                  <code>{route.match}</code>
                </a>{' '}
                <span class="muted">{route.matchType === 'EXACT_PATH' ? 'exact path' : 'path prefix'}</span>
                <ModuleTags kind="httpsEdgeRoute" host={route} />
              </li>
            ))}
          </ul>
          {edge.routes.length === 0 && <p class="muted">It has no routes yet: every request is answered with 404.</p>}
        </>
      )}
    </Section>
  );
}

function ConnectionEdgeSection({ kind, id }: { kind: keyof typeof connectionEdges; id: string }) {
  const { data, error } = useQuery(connectionEdges[kind], { id }, { kinds: [kind] });
  const edge = data?.edge;
  return (
    <Section title="Its edge" actions={<a href={objectPath(kind, id)}>{edge?.description || id}</a>}>
      <ErrorNote error={error} />
      {!edge && !error && <Skeleton />}
      {edge && <ModuleTags kind={kind} host={edge} />}
    </Section>
  );
}
