import { useLocation } from 'preact-iso/router';
import { pathOf } from '../data/routing/paths.ts';
import { LinkButton } from '../ui/button.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Empty } from '../ui/layout/empty-state.tsx';
import { Page } from '../ui/layout/page.tsx';

/** What stands at an address that leads nowhere. */
export function NotThere() {
  const { path } = useLocation();
  // The root and the sign-in page are left at once by whoever is signed in.
  if (path === pathOf() || path === pathOf('sign-in')) return <Skeleton />;
  return (
    <Page title="Nothing is here">
      <Empty
        title="This address leads nowhere"
        action={<LinkButton href={pathOf('endpoints')}>To the endpoints</LinkButton>}
      >
        What it named may have been deleted. Search finds everything that is there.
      </Empty>
    </Page>
  );
}
