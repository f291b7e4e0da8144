from django.urls import path
app_name="evaluations"
urlpatterns=[]
