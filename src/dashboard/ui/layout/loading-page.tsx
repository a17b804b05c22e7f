import type { ApiFailure } from '../../data/client/client.ts';
import { LinkButton } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';
import { EmptyState } from './empty-state.tsx';
import { type Breadcrumb, Page } from './page.tsx';

interface LoadingPageProps {
  /** What is waited for: `API key`. */
  title: string;
  /** The last one leads to all of them. */
  crumbs: readonly Breadcrumb[];
  error: ApiFailure | undefined;
  refetch: () => Promise<void>;
}

/** A page whose object isn't there: not yet, or not any more. */
export function LoadingPage({ title, crumbs, error, refetch }: LoadingPageProps) {
  const parent = crumbs.at(-1);
  return (
    <Page title={title} crumbs={crumbs}>
      {error?.code === 'NOT_FOUND' ? (
        <EmptyState
          title={`There is no such ${title}`}
          action={parent && <LinkButton href={parent.href}>{parent.title}</LinkButton>}
        >
          It has been deleted, or belongs to another account.
        </EmptyState>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}
