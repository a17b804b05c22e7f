// Certificate authorities: the list, the form for a new one, and the page of one.

import { useLocation } from 'preact-iso/router';
import { now } from '../../../data/clock.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { Authorities, Authority, type AuthorityRowFragment, DeleteAuthority } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { listPaths, newPath, tabs } from '../navigation.ts';
import { authorityTitle } from '../references/references.ts';
import { AuthorityForm } from './form.tsx';

const KINDS = ['certificateAuthority'];
const crumbs = [{ title: 'Certificate authorities', href: listPaths.authorities }];

const columns: Column<AuthorityRowFragment>[] = [
  { key: 'name', member: 'description', title: 'Name', width: '2fr', cell: authorityTitle },
  {
    key: 'subject',
    member: 'subject_common_name',
    title: 'Subject',
    width: '2fr',
    cell: ({ subjectCommonName }) => subjectCommonName,
    priority: 2,
  },
  {
    key: 'until',
    member: 'not_after',
    title: 'Valid until',
    width: '9rem',
    cell: ({ notAfter }) => <ValidUntil at={notAfter} />,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Uploaded',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    priority: 3,
  },
];

export function AuthorityList() {
  const view = useListView('certificateAuthorities', Authorities, (result) => result.certificateAuthorities, {
    kinds: KINDS,
  });
  return (
    <Page
      title="Certificate authorities"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.authorities)}>
          New authority
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <ListTable
        label="Certificate authorities"
        columns={columns}
        view={view}
        nouns={['authority', 'authorities']}
        href={({ id }) => objectPath('certificateAuthority', id)}
        empty={
          <EmptyState
            title="No certificate authorities yet"
            action={<LinkButton href={newPath(listPaths.authorities)}>New authority</LinkButton>}
            command={EXAMPLE_COMMAND}
          >
            An authority issues the certificates that visitors show. The mutual TLS of an edge names whom it trusts. To
            make one for a try:
          </EmptyState>
        }
      />
    </Page>
  );
}

const EXAMPLE_COMMAND =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj "/CN=Our devices" -days 3650';

function ValidUntil({ at }: { at: string }) {
  return (
    <>
      {Date.parse(at) < now.value && <Tag variant="bad">expired</Tag>} <RelativeTime at={at} />
    </>
  );
}

export function NewAuthority() {
  const { route } = useLocation();
  return (
    <Page title="New certificate authority" crumbs={crumbs}>
      <AuthorityForm
        onDone={(id) => route(objectPath('certificateAuthority', id))}
        onCancel={() => route(listPaths.authorities)}
      />
    </Page>
  );
}

export function AuthorityPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Authority, { id }, { kinds: KINDS });
  const { route } = useLocation();
  const authority = data?.certificateAuthority;
  if (!authority) return <NotYet title="Certificate authority" crumbs={crumbs} error={error} refetch={refetch} />;
  const { subjectCommonName, notBefore, notAfter, keyUsages, extendedKeyUsages, caPem } = authority;
  return (
    <DetailPage
      title={authorityTitle(authority)}
      crumbs={crumbs}
      noun="certificate authority"
      id={id}
      remove={DeleteAuthority}
      consequence="A mutual TLS module that names it has to be changed first."
    >
      <DescriptionList
        items={[
          { name: 'Subject', value: subjectCommonName || 'without a common name' },
          { name: 'In force since', value: <RelativeTime at={notBefore} /> },
          { name: 'Valid until', value: <ValidUntil at={notAfter} /> },
          { name: 'Its key may', value: keyUsages.join(', ') || 'the certificate does not say' },
          extendedKeyUsages.length > 0 && { name: 'For', value: extendedKeyUsages.join(', ') },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      <Section title="Certificate">
        <CodeBlock code={caPem} label="the certificate" />
      </Section>
      <Section title="Settings">
        <AuthorityForm
          key={id}
          authority={authority}
          onDone={() => toast('The certificate authority is changed.')}
          onCancel={() => route(listPaths.authorities)}
        />
      </Section>
    </DetailPage>
  );
}
