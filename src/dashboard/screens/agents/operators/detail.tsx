// The page of an operator in a cluster of Kubernetes.

import { useState } from 'preact/hooks';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { KubernetesOperator } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { MetadataSection } from '../../../ui/layout/metadata-section.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { operatorCrumbs, operatorTitle } from '../navigation.ts';
import { DeleteOperatorDialog, EditOperatorDialog } from './dialogs.tsx';

export function OperatorPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(KubernetesOperator, { id }, { kinds: ['kubernetesOperator'] });
  const [openDialog, setOpenDialog] = useState<'change' | 'delete'>();
  const operator = data?.kubernetesOperator;
  if (!operator || error?.code === 'NOT_FOUND')
    return <LoadingPage title="Kubernetes operator" crumbs={operatorCrumbs} error={error} refetch={refetch} />;
  const { deployment, description, metadata, region, enabledFeatures, createdAt, updatedAt } = operator;
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title={operatorTitle(operator)}
      crumbs={operatorCrumbs}
      lead={description || undefined}
      actions={
        <>
          <Button onClick={() => setOpenDialog('change')}>Change</Button>
          <Button variant="danger" onClick={() => setOpenDialog('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      <DescriptionList
        items={[
          { name: 'Deployment', value: deployment.name || '–' },
          { name: 'Namespace', value: deployment.namespace || '–' },
          { name: 'Version', value: deployment.version || '–' },
          deployment.clusterName !== '' && { name: 'Cluster', value: deployment.clusterName },
          { name: 'Does', value: enabledFeatures.join(', ') || '–' },
          region !== '' && { name: 'Region', value: region },
          { name: 'Registered', value: <RelativeTime at={createdAt} /> },
          { name: 'Changed', value: <RelativeTime at={updatedAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <MetadataSection text={metadata} />
      <AuditHistory id={id} />
      {openDialog === 'change' && <EditOperatorDialog operator={operator} onClose={close} />}
      {openDialog === 'delete' && <DeleteOperatorDialog operator={operator} onClose={close} />}
    </Page>
  );
}
