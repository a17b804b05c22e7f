import { useState } from 'preact/hooks';
import { useParam } from '../../data/use-param.ts';
import { useQuery } from '../../data/use-query.ts';
import { Domain } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Notes } from '../../ui/notes.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { When } from '../../ui/when.tsx';
import { DomainCertificate } from './domain-certificate.tsx';
import { ChangeDomain, DeleteDomainDialog } from './domain-dialogs.tsx';
import { domainCrumbs, lists } from './places.ts';
import { Records } from './records.tsx';

export function DomainPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(Domain, { id }, { kinds: ['reservedDomain'] });
  const [asked, setAsked] = useState<'change' | 'delete'>();
  const domain = data?.reservedDomain;
  if (error?.code === 'NOT_FOUND') return <Gone />;
  if (!domain) {
    return (
      <Page title="Domain" crumbs={domainCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void reload()} /> : <Skeleton />}
      </Page>
    );
  }
  const close = () => setAsked(undefined);
  return (
    <Page
      title={domain.domain}
      crumbs={domainCrumbs}
      lead={domain.description || undefined}
      actions={
        <>
          <Button onClick={() => setAsked('change')}>Change</Button>
          <Button look="danger" onClick={() => setAsked('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <ErrorNote error={error} retry={() => void reload()} />
      <Facts
        facts={[
          { name: 'Stands for', value: domain.domain.startsWith('*.') ? 'every name below' : 'this one name' },
          { name: 'Reserved', value: <When at={domain.createdAt} /> },
          domain.region !== '' && { name: 'Region', value: domain.region },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      <Records domain={domain} />
      <DomainCertificate domain={domain} onChanged={() => void reload()} />
      <Notes text={domain.metadata} />
      {asked === 'change' && <ChangeDomain domain={domain} onClose={close} />}
      {asked === 'delete' && <DeleteDomainDialog domain={domain} onClose={close} />}
    </Page>
  );
}

function Gone() {
  return (
    <Page title="Domain" crumbs={domainCrumbs}>
      <Empty title="There is no such domain" action={<LinkButton href={lists.domains}>All domains</LinkButton>}>
        It has been given up, or belongs to another account.
      </Empty>
    </Page>
  );
}
