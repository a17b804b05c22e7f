import { useLocation } from 'preact-iso/router';
import { pathTo } from '../data/routing/paths.ts';
import { LinkButton } from '../ui/button.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { EmptyState } from '../ui/layout/empty-state.tsx';
import { Page } from '../ui/layout/page.tsx';

/** The page for a path that no screen has. */
export function NotFound() {
  const { path } = useLocation();
  // The root component redirects from these two as soon as somebody is signed in.
  if (path === pathTo() || path === pathTo('sign-in')) return <Skeleton />;
  return (
    <Page title="Nothing is here">
      <EmptyState
        title="This address leads nowhere"
        action={<LinkButton href={pathTo('overview')}>To the overview</LinkButton>}
      >
        There is no page at <code>{path}</code>. It may be mistyped, or of another version of the gateway. The search,
        by the key <kbd>/</kbd>, finds everything that is there.
      </EmptyState>
    </Page>
  );
}
