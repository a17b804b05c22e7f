// The root component: decides between the sign-in screen and the screens of somebody who is signed in.

import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { type ApiFailure, toApiFailure } from './data/client/client.ts';
import { pathTo } from './data/routing/paths.ts';
import { HOME, requestedUrl } from './data/session/requested-url.ts';
import { loadViewer, viewer } from './data/session/session.ts';
import { signInToken } from './data/session/sign-in-token.ts';
import { screens } from './screens/index.tsx';
import { SignIn } from './screens/sign-in/index.tsx';
import { NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { Button } from './ui/button.tsx';
import { LeaveDialog } from './ui/dialogs/leave-dialog.tsx';
import { ErrorNote } from './ui/feedback/error-note.tsx';
import { Skeleton } from './ui/feedback/skeleton.tsx';
import { Toasts } from './ui/feedback/toast.tsx';

const SIGN_IN = pathTo('sign-in');

export function App() {
  return (
    <LocationProvider scope="/dashboard">
      <SessionGate />
      <LeaveDialog />
      <Toasts />
    </LocationProvider>
  );
}

function SessionGate() {
  const { path, url, route } = useLocation();
  const [error, setError] = useState<ApiFailure>();
  const isSignedOut = viewer.value === null || signInToken.value !== null;

  async function load() {
    setError(undefined);
    await loadViewer().catch((thrown) => setError(toApiFailure(thrown)));
  }

  useEffect(() => {
    if (viewer.value === undefined) void load();
  });
  useEffect(() => {
    if (viewer.value === undefined) return;
    if (isSignedOut && path !== SIGN_IN) {
      requestedUrl.value = url;
      route(SIGN_IN, true);
    } else if (!isSignedOut && path === SIGN_IN) {
      route(requestedUrl.value, true);
      requestedUrl.value = HOME;
    } else if (!isSignedOut && path === pathTo()) {
      route(HOME, true);
    }
  }, [isSignedOut, path, url, route, viewer.value]);

  if (error) {
    return (
      <main class="standalone">
        <ErrorNote error={error} retry={() => void load()} />
      </main>
    );
  }
  if (viewer.value === undefined) {
    return (
      <main class="standalone">
        <Skeleton />
      </main>
    );
  }
  return isSignedOut ? <SignIn /> : <Screens />;
}

function Screens() {
  const { path } = useLocation();
  if (!isReadable(path)) {
    return (
      <Shell navItems={screens}>
        <NotFound />
      </Shell>
    );
  }
  return (
    <Shell navItems={screens}>
      <ErrorBoundary path={path}>
        <Router>
          {screens.flatMap(({ folder, component }) => [
            <Route key={folder} path={pathTo(folder)} component={component} />,
            <Route key={`${folder}/`} path={`${pathTo(folder)}/*`} component={component} />,
          ])}
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </Shell>
  );
}

/** Whether the router can decode a path: `%E0` alone is no text. */
function isReadable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

interface ErrorBoundaryProps {
  /** The path of the screen: another one gets a chance of its own. */
  path: string;
  children: ComponentChildren;
}

/** An error boundary: an exception in one screen leaves the navigation usable. */
class ErrorBoundary extends Component<ErrorBoundaryProps, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidUpdate({ path }: ErrorBoundaryProps) {
    if (this.state.error && path !== this.props.path) this.setState({ error: null });
  }

  override componentDidCatch(error: Error) {
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="page">
        <h1>This screen failed</h1>
        <div class="note error" role="alert">
          <p>{error.message}</p>
        </div>
        <div>
          <Button variant="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </div>
      </div>
    );
  }
}
