// The page of a cloud endpoint, and that of a new one.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { CloudEndpoint, DeleteCloudEndpoint } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { cloudEndpointPath, cloudTitle, listPaths } from '../navigation.ts';
import { CloudEndpointForm } from './form.tsx';

const crumbs = [{ title: 'Cloud endpoints', href: listPaths.cloud }];

export function NewCloudEndpoint() {
  const { route } = useLocation();
  return (
    <Page
      title="New cloud endpoint"
      crumbs={crumbs}
      lead="A URL that a traffic policy answers in the gateway itself, without an agent."
    >
      <CloudEndpointForm onDone={(id) => route(cloudEndpointPath(id))} onCancel={() => route(listPaths.cloud)} />
    </Page>
  );
}

export function CloudEndpointPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(CloudEndpoint, { id }, { kinds: ['endpoint'] });
  const { route } = useLocation();
  const endpoint = data?.endpoint;
  if (!endpoint) return <NotYet title="Cloud endpoint" crumbs={crumbs} error={error} refetch={refetch} />;
  if (endpoint.type !== 'CLOUD') return <OtherEndpoint id={id} />;
  const { url, publicUrl, createdAt } = endpoint;
  return (
    <DetailPage
      title={cloudTitle(url)}
      crumbs={crumbs}
      noun="cloud endpoint"
      id={id}
      remove={DeleteCloudEndpoint}
      consequence="Its policy is deleted with it, and its URL is answered no more; a domain or an address stays reserved."
    >
      <DescriptionList
        items={[
          { name: 'Address', value: <CopyButton text={publicUrl} label="the address" /> },
          {
            name: 'Traffic',
            value: (
              <>
                <a href={objectPath('endpoint', id)}>Charts and requests</a>,{' '}
                <a href={pathTo('traffic', id)}>captured requests</a>
              </>
            ),
          },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      <Section title="Settings" lead="The next visitor gets what the policy says then.">
        <CloudEndpointForm
          key={id}
          endpoint={endpoint}
          onDone={() => toast('The cloud endpoint is changed.')}
          onCancel={() => route(listPaths.cloud)}
        />
      </Section>
    </DetailPage>
  );
}

/** The page for an endpoint that an agent or an edge serves. */
function OtherEndpoint({ id }: { id: string }) {
  return (
    <Page title="No cloud endpoint" crumbs={crumbs}>
      <EmptyState
        title="This is no cloud endpoint"
        action={<LinkButton href={objectPath('endpoint', id)}>The endpoint</LinkButton>}
      >
        An agent or an edge serves it.
      </EmptyState>
    </Page>
  );
}
