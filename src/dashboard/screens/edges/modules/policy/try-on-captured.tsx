import { useQuery } from '../../../../data/hooks/use-query.ts';
import { edgeRoutePath } from '../../../../data/routing/paths.ts';
import { RequestEdge, RequestRoutes } from '../../../../generated/operations.ts';
import { Section } from '../../../../ui/layout/page.tsx';
import { cloudEndpointPath } from '../../navigation.ts';
import { SAMPLE_PARAMETER } from './use-captured-sample.ts';

/** Links to the policies of the edge or cloud endpoint that a captured request came to, to be tried on it; nothing for those of agents. */
export function TryOnCaptured({ endpointId, requestId }: { endpointId: string; requestId: string }) {
  const ofEndpoint = useQuery(RequestEdge, { endpointId });
  const endpoint = ofEndpoint.data?.endpoint;
  const edgeId = endpoint?.edge?.id;
  const { data } = useQuery(RequestRoutes, { edgeId: edgeId ?? '' }, { skip: !edgeId?.startsWith('edghts_') });
  const routes = data?.httpsEdge?.routes ?? [];
  const isCloud = endpoint?.type === 'CLOUD';
  if (!isCloud && (!edgeId || routes.length === 0)) return null;
  return (
    <Section title="Try a policy on it" lead="The dry run of a traffic policy, filled with this request.">
      <ul>
        {isCloud && (
          <li>
            <a href={`${cloudEndpointPath(endpointId)}?${SAMPLE_PARAMETER}=${requestId}`}>The cloud endpoint</a>
          </li>
        )}
        {routes.map(({ id, match, matchType }) => (
          <li key={id}>
            <a href={`${edgeRoutePath(edgeId ?? '', id)}/modules/trafficPolicy?${SAMPLE_PARAMETER}=${requestId}`}>
              Route {match} <span class="muted">({matchType === 'EXACT_PATH' ? 'exactly' : 'and below'})</span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
