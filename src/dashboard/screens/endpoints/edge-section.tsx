// The edge that serves an endpoint, with its routes and modules.

import { useQuery } from '../../data/hooks/use-query.ts';
import { edgeRoutePath, objectPath } from '../../data/routing/paths.ts';
import { EndpointHttpsEdge, EndpointTlsEdge } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { ModuleTags } from './module-tags.tsx';

export function EdgeSection({ id }: { id: string }) {
  return id.startsWith('edgtls_') ? <TlsEdgeSection id={id} /> : <HttpsEdgeSection id={id} />;
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
                <span class="muted">{route.matchType === 'exact_path' ? 'exact path' : 'path prefix'}</span>
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

function TlsEdgeSection({ id }: { id: string }) {
  const { data, error } = useQuery(EndpointTlsEdge, { id }, { kinds: ['tlsEdge'] });
  const edge = data?.tlsEdge;
  return (
    <Section title="Its edge" actions={<a href={objectPath('tlsEdge', id)}>{edge?.description || id}</a>}>
      <ErrorNote error={error} />
      {!edge && !error && <Skeleton />}
      {edge && <ModuleTags kind="tlsEdge" host={edge} />}
    </Section>
  );
}
