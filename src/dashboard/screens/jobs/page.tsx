import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { BulkJobProgress } from '../../generated/operations.ts';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { JobProgress } from '../../ui/list/bulk/job-progress.tsx';
import { jobTitle } from '../../ui/list/bulk/job-words.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const crumbs = [{ title: 'Bulk changes', href: pathTo('jobs') }];

/** A change of many objects: how far it is, and what refused. */
export function JobPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(BulkJobProgress, { id }, { kinds: ['bulkJob'] });
  const job = data?.bulkJob;
  if (!job) return <LoadingPage title="Bulk change" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <Page
      title={jobTitle(job)}
      crumbs={crumbs}
      lead={
        <>
          Begun by {job.actorSubject} <RelativeTime at={job.createdAt} />.{' '}
          {job.undoOf && (
            <>
              It undoes <a href={objectPath('bulkJob', job.undoOf.id)}>another change</a>.{' '}
            </>
          )}
          {job.undoneBy && (
            <>
              It is <a href={objectPath('bulkJob', job.undoneBy.id)}>undone</a>.{' '}
            </>
          )}
          Each object has an entry of its own in the <a href={pathTo('audit')}>audit trail</a>.
        </>
      }
    >
      <JobProgress key={id} id={id} />
    </Page>
  );
}
