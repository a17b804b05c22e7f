// Event destinations and event subscriptions.

import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { DeadLetterPage } from './destinations/dead-letter-detail.tsx';
import { DestinationPage } from './destinations/detail.tsx';
import { EditDestination, NewDestination } from './destinations/edit.tsx';
import { DestinationList } from './destinations/list.tsx';
import './events.css';
import { NewSubscription, SubscriptionPage } from './subscriptions/detail.tsx';
import { SubscriptionList } from './subscriptions/list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={DestinationList} />
      <Route path="/destinations/new" component={NewDestination} />
      <Route path="/destinations/:id" component={DestinationPage} />
      <Route path="/destinations/:id/edit" component={EditDestination} />
      <Route path="/destinations/:id/dead-letters/:letterId" component={DeadLetterPage} />
      <Route path="/subscriptions" component={SubscriptionList} />
      <Route path="/subscriptions/new" component={NewSubscription} />
      <Route path="/subscriptions/:id" component={SubscriptionPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
